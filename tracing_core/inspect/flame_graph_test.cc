#include "tracing_core/inspect/flame_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tracing { namespace {

using ::testing::ElementsAre;

struct Line {
  char const* stack;
  std::uint64_t count;
  std::uint64_t before = 0;
};

FlameBuilder filled(FlameKind kind, std::vector<Line> const& lines) {
  FlameBuilder builder(kind);
  for (Line const& line : lines) EXPECT_EQ(builder.add(line.stack, line.count, line.before), "");
  return builder;
}

std::vector<std::string> dump(FlameGraph const& graph) {
  std::vector<std::string> out;
  for (FlameFrame const& f : graph.frames) {
    out.push_back(fmt::format("{} {} {}+{} self {}", f.depth, graph.names[f.name], f.start, f.width, f.self));
  }
  return out;
}
std::vector<std::string> dump(FlameKind kind, std::vector<Line> const& lines) {
  return dump(filled(kind, lines).build());
}

TEST(FlameGraph, JoinsStacksOfTheSameName) {
  EXPECT_THAT(
      dump(FlameKind::graph, {{"main;a", 1}, {"main;b", 10}, {"main;a;x", 2}, {"main", 4}, {"main;a", 20}}),
      ElementsAre("0  0+37 self 0", "1 main 0+37 self 4", "2 a 4+23 self 21", "2 b 27+10 self 10", "3 x 25+2 self 2"));
}

TEST(FlameGraph, KeepsNamesApartThatBeginAlike) {
  // If stacks were sorted as text, the frame `run` would come twice.
  EXPECT_THAT(dump(FlameKind::graph, {{"run 2", 3}, {"run", 5}, {"run;x", 2}}),
              ElementsAre("0  0+10 self 0", "1 run 0+7 self 5", "1 run 2 7+3 self 3", "2 x 5+2 self 2"));
}

TEST(FlameGraph, DoesNotDependOnTheOrderOfLines) {
  std::vector<Line> lines{{"a;b;c", 3}, {"a", 1},    {"a;b", 2},  {"b;a", 7},   {"b", 1},    {"a;b;c", 4},
                          {"z z;y", 5}, {"aa;x", 0}, {"ab;x", 0}, {"b;b;x", 0}, {"b;c;x", 0}};
  auto const expected = dump(FlameKind::graph, lines);
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(lines.begin(), lines.end(), random);
    EXPECT_EQ(dump(FlameKind::graph, lines), expected);
  }
}

TEST(FlameGraph, ReversesStacks) {
  EXPECT_THAT(dump(FlameKind::reversed, {{"main;a;b", 10}, {"main;c;b", 20}, {"main", 5}}),
              ElementsAre("0  0+35 self 0", "1 b 0+30 self 0", "1 main 30+5 self 5", "2 a 0+10 self 0",
                          "2 c 10+20 self 0", "3 main 0+10 self 10", "3 main 10+20 self 20"));
}

TEST(FlameGraph, IsEmptyWithoutCounts) {
  EXPECT_TRUE(FlameBuilder(FlameKind::graph).build().frames.empty());
  EXPECT_TRUE(filled(FlameKind::graph, {{"a", 0}, {"b", 0}}).build().frames.empty());
  EXPECT_TRUE(filled(FlameKind::chart, {{"a", 0}}).build().frames.empty());
  EXPECT_EQ(FlameGraph().total(), 0u);
}

TEST(FlameGraph, RejectsCountsThatOverflowTheTotal) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  FlameBuilder builder(FlameKind::graph);
  EXPECT_EQ(builder.add("a", kMax - 1), "");
  EXPECT_EQ(builder.add("b", 2), "the total is too large; expected at most 18446744073709551615");
  EXPECT_EQ(builder.add("b", 1), "");
  EXPECT_EQ(builder.add("b", 0, kMax), "");
  EXPECT_NE(builder.add("b", 0, 1), "");
  EXPECT_THAT(dump(std::move(builder).build()),
              ElementsAre("0  0+18446744073709551615 self 0", "1 a 0+18446744073709551614 self 18446744073709551614",
                          "1 b 18446744073709551614+1 self 1"));
}

TEST(FlameGraph, TakesStacksOfAnyDepth) {
  std::string stack = "f";
  for (int i = 0; i < 200'000; ++i) stack += ";f";
  for (FlameKind const kind : {FlameKind::graph, FlameKind::reversed, FlameKind::chart}) {
    FlameBuilder builder(kind);
    builder.add(stack, 1);
    builder.add(stack, 2);
    FlameGraph const graph = std::move(builder).build();
    ASSERT_EQ(graph.frames.size(), 200'002u);
    EXPECT_EQ(graph.frames.back().depth, 200'001u);
    EXPECT_EQ(graph.frames.back().width, 3u);
  }
}

TEST(FlameChart, KeepsTheOrderOfLines) {
  EXPECT_THAT(dump(FlameKind::chart, {{"a;b", 1}, {"a;b", 2}, {"a;c", 3}, {"a", 5}, {"a;b", 4}}),
              ElementsAre("0  0+15 self 0", "1 a 0+15 self 5", "2 b 0+3 self 3", "2 c 3+3 self 3", "2 b 11+4 self 4"));
}

TEST(FlameChart, PutsTheLastLineFirstOnRequest) {
  EXPECT_THAT(dump(FlameKind::chart_last_first, {{"a;b", 1}, {"a;b", 2}, {"a;c", 3}, {"d", 4}}),
              ElementsAre("0  0+10 self 0", "1 d 0+4 self 4", "1 a 4+6 self 0", "2 c 4+3 self 3", "2 b 7+3 self 3"));
}

// Compares the graph with a slow implementation that adds up texts.
TEST(FlameGraph, AgreesWithAddingUpStackByStack) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    std::vector<std::pair<std::string, std::uint64_t>> lines;
    FlameBuilder builder(FlameKind::graph);
    std::uint64_t total = 1;
    builder.add("a", 1);
    lines.emplace_back("a", 1);
    for (std::size_t i = random() % 40; i > 0; --i) {
      std::string stack(1, static_cast<char>('a' + random() % 3));
      for (std::size_t depth = random() % 5; depth > 0; --depth) {
        stack += ';';
        stack += static_cast<char>('a' + random() % 3);
      }
      lines.emplace_back(stack, random() % 100);
      total += lines.back().second;
      builder.add(stack, lines.back().second);
    }
    FlameGraph const graph = std::move(builder).build();
    ASSERT_EQ(graph.total(), total);
    std::vector<std::string> paths(graph.frames.size());
    for (std::size_t i = 1; i < graph.frames.size(); ++i) {
      FlameFrame const& frame = graph.frames[i];
      // The parent is the last frame of the row below that begins no later, since rows are in order.
      std::size_t parent = i;
      for (std::size_t j = 0; j < i; ++j) {
        FlameFrame const& f = graph.frames[j];
        bool const holds =
            f.depth + 1 == frame.depth && f.start <= frame.start && frame.start + frame.width <= f.start + f.width;
        if (holds && (frame.width > 0 || f.width > 0 || parent == i)) parent = j;
      }
      ASSERT_LT(parent, i);
      if (frame.width == 0) continue;  // more than one frame may be its parent
      paths[i] = paths[parent].empty() ? graph.names[frame.name] : paths[parent] + ';' + graph.names[frame.name];
      std::uint64_t expected = 0;
      std::uint64_t self = 0;
      for (auto const& [stack, count] : lines) {
        if (stack == paths[i]) self += count;
        if (stack == paths[i] || stack.starts_with(paths[i] + ';')) expected += count;
      }
      EXPECT_EQ(frame.width, expected) << paths[i];
      EXPECT_EQ(frame.self, self) << paths[i];
    }
  }
}

std::vector<std::string> dump_difference(FlameGraph const& graph) {
  std::vector<std::string> out;
  for (FlameFrame const& f : graph.frames) {
    out.push_back(fmt::format("{} {} {}+{} before {} after {} own before {} after {}", f.depth, graph.names[f.name],
                              f.start, f.width, f.before, f.count, f.self_before, f.self));
  }
  return out;
}

// The example of docs/flame-command.md.
std::vector<Line> const kTwoRuns{
    {"main;load", 0, 40}, {"main;load;parse", 0, 20}, {"main;run", 0, 30}, {"main;old", 0, 10},
    {"main;load", 40},    {"main;load;parse", 50},    {"main;run", 20},    {"main;new", 15}};

TEST(FlameDifference, HasTheWidthsOfTheLaterRun) {
  FlameGraph const graph = filled(FlameKind::graph, kTwoRuns).build(FlameDifference{});
  EXPECT_TRUE(graph.is_differential);
  EXPECT_THAT(dump_difference(graph), ElementsAre("0  0+125 before 100 after 125 own before 0 after 0",
                                                  "1 main 0+125 before 100 after 125 own before 0 after 0",
                                                  "2 load 0+90 before 60 after 90 own before 40 after 40",
                                                  "2 new 90+15 before 0 after 15 own before 0 after 15",
                                                  "2 old 105+0 before 10 after 0 own before 10 after 0",
                                                  "2 run 105+20 before 30 after 20 own before 30 after 20",
                                                  "3 parse 40+50 before 20 after 50 own before 20 after 50"));
}

TEST(FlameDifference, HasTheWidthsOfTheEarlierRunOnRequest) {
  FlameGraph const graph = filled(FlameKind::graph, kTwoRuns).build(FlameDifference{.width = FlameWidth::before});
  EXPECT_THAT(dump_difference(graph), ElementsAre("0  0+100 before 100 after 125 own before 0 after 0",
                                                  "1 main 0+100 before 100 after 125 own before 0 after 0",
                                                  "2 load 0+60 before 60 after 90 own before 40 after 40",
                                                  "2 new 60+0 before 0 after 15 own before 0 after 15",
                                                  "2 old 60+10 before 10 after 0 own before 10 after 0",
                                                  "2 run 70+30 before 30 after 20 own before 30 after 20",
                                                  "3 parse 40+20 before 20 after 50 own before 20 after 50"));
}

TEST(FlameDifference, ScalesTheEarlierRunToTheLaterOne) {
  // The earlier counts are multiplied by 125/100; 12.5 becomes 13 and 37.5 becomes 38.
  FlameGraph const graph = filled(FlameKind::graph, kTwoRuns).build(FlameDifference{.normalise = true});
  EXPECT_THAT(dump_difference(graph), ElementsAre("0  0+125 before 125 after 125 own before 0 after 0",
                                                  "1 main 0+125 before 125 after 125 own before 0 after 0",
                                                  "2 load 0+90 before 75 after 90 own before 50 after 40",
                                                  "2 new 90+15 before 0 after 15 own before 0 after 15",
                                                  "2 old 105+0 before 13 after 0 own before 13 after 0",
                                                  "2 run 105+20 before 38 after 20 own before 38 after 20",
                                                  "3 parse 40+50 before 25 after 50 own before 25 after 50"));
}

TEST(FlameDifference, CountsFramesOfTheOtherRunOnly) {
  std::vector<Line> const lines{
      {"m;kept", 20, 20000}, {"m;gone", 0, 1}, {"m;new", 1, 0}, {"m;new;upon", 1, 0}, {"m;never", 0, 0}};
  auto const count = [&](FlameDifference const& difference) {
    return filled(FlameKind::graph, lines).build(difference).only_in_other;
  };
  EXPECT_EQ(count({}), 1u);
  EXPECT_EQ(count({.normalise = true}), 1u) << "though its count is rounded to 0";
  EXPECT_EQ(count({.width = FlameWidth::before}), 2u);
}

TEST(FlameDifference, IsEmptyIfThereIsNothingToDraw) {
  std::vector<Line> const vanished{{"a", 0, 5}};
  EXPECT_TRUE(filled(FlameKind::graph, vanished).build(FlameDifference{}).frames.empty());
  EXPECT_FALSE(filled(FlameKind::graph, vanished).build(FlameDifference{.width = FlameWidth::before}).frames.empty());
  std::vector<Line> const appeared{{"a", 5, 0}};
  EXPECT_EQ(filled(FlameKind::graph, appeared).build(FlameDifference{.normalise = true}).total(), 5u);
}

}}  // namespace tracing
