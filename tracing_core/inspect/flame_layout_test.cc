#include "tracing_core/inspect/flame_layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tracing {
namespace {

using ::testing::ElementsAre;

FlameGraph sample() {
  FlameBuilder builder(FlameKind::graph);
  builder.add("main;a;b", 10);
  builder.add("main;a;c", 20);
  builder.add("main;d", 5);
  return std::move(builder).build();
}

std::vector<std::string> dump(FlameGraph const& graph, FlameLayout const& layout) {
  std::vector<std::string> out;
  for (PlacedFrame const& f : layout.frames) {
    out.push_back(fmt::format("{} {:.4f}% {} {:.4f}%", graph.names[f.frame->name], f.x_percent, f.y, f.width_percent));
  }
  return out;
}

TEST(FlameLayout, PutsEverythingAtTheBottom) {
  FlameGraph const graph = sample();
  FlameLayout const layout = place_frames(graph);
  EXPECT_EQ(layout.width, 1200);
  EXPECT_EQ(layout.height, 134);
  EXPECT_THAT(dump(graph, layout),
              ElementsAre(" 0.0000% 85 100.0000%", "main 0.0000% 69 100.0000%", "a 0.0000% 53 85.7143%",
                          "d 85.7143% 53 14.2857%", "b 0.0000% 37 28.5714%", "c 28.5714% 37 57.1429%"));
}

TEST(FlameLayout, LeavesNarrowFramesOut) {
  FlameGraph const graph = sample();
  EXPECT_EQ(place_frames(graph, {.min_width_percent = 14.2857}).frames.size(), 6u);
  EXPECT_EQ(place_frames(graph, {.min_width_percent = 20}).frames.size(), 5u) << "without d";
  FlameLayout const low = place_frames(graph, {.min_width_percent = 60});
  EXPECT_THAT(dump(graph, low),
              ElementsAre(" 0.0000% 69 100.0000%", "main 0.0000% 53 100.0000%", "a 0.0000% 37 85.7143%"))
      << "the picture is as high as what is in it";
  EXPECT_EQ(low.height, 118);
}

TEST(FlameLayout, TakesTheSizesItIsGiven) {
  FlameGraph const graph = sample();
  FlameLayout const layout = place_frames(graph, {.width = 500, .frame_height = 20, .top = 50, .bottom = 10});
  EXPECT_EQ(layout.width, 500);
  EXPECT_EQ(layout.height, 50 + 4 * 20 + 10);
  EXPECT_EQ(layout.frames.front().y, 50 + 3 * 20 + 1);
  EXPECT_EQ(layout.frames.back().y, 50 + 1);
}

TEST(FlameLayout, IsEmptyWhereNothingWasCounted) { EXPECT_TRUE(place_frames(FlameGraph()).frames.empty()); }

std::vector<std::string> descriptions(FlameGraph const& graph) {
  std::vector<std::string> out;
  for (FlameFrame const& frame : graph.frames) out.push_back(describe(graph, frame, "ns"));
  return out;
}

TEST(FlameDescription, SaysHowMuchAndHowMuchOfAll) {
  EXPECT_THAT(descriptions(sample()), ElementsAre("all (35 ns, 100%)", "main (35 ns, 100.00%)", "a (30 ns, 85.71%)",
                                                  "d (5 ns, 14.29%)", "b (10 ns, 28.57%)", "c (20 ns, 57.14%)"));
}

TEST(FlameDescription, GroupsDigitsAndDropsPerfsMarks) {
  FlameBuilder builder(FlameKind::graph);
  builder.add("do_idle_[k]", 1'234'567);
  builder.add("x[3]", 765'433);
  EXPECT_THAT(descriptions(std::move(builder).build()),
              ElementsAre("all (2,000,000 ns, 100%)", "do_idle (1,234,567 ns, 61.73%)", "x[3] (765,433 ns, 38.27%)"));
}

TEST(FlameDescription, SaysWhatChanged) {
  FlameBuilder builder(FlameKind::graph);
  builder.add("main;load", 40, 40);
  builder.add("main;load;parse", 1050, 20);
  builder.add("main;run", 20, 30);
  EXPECT_THAT(
      descriptions(std::move(builder).build(FlameDifference{})),
      ElementsAre("all (1,110 ns, 100%; before 90, after 1,110: +1,020; own before 0, after 0: the same)",
                  "main (1,110 ns, 100.00%; before 90, after 1,110: +1,020; own before 0, after 0: the same)",
                  "load (1,090 ns, 98.20%; before 60, after 1,090: +1,030; own before 40, after 40: the same)",
                  "run (20 ns, 1.80%; before 30, after 20: -10; own before 30, after 20: -10)",
                  "parse (1,050 ns, 94.59%; before 20, after 1,050: +1,030; own before 20, after 1,050: +1,030)"));
}

TEST(FlameNames, LoseOnlyPerfsMarks) {
  EXPECT_EQ(without_mark("f_[k]"), "f");
  EXPECT_EQ(without_mark("f_[i]"), "f");
  EXPECT_EQ(without_mark("f_[x]"), "f_[x]");
  EXPECT_EQ(without_mark("[k]"), "[k]");
  EXPECT_EQ(without_mark("_[k]"), "");
  EXPECT_EQ(without_mark(""), "");
}

}  // namespace
}  // namespace tracing
