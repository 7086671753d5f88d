#include "tracing_core/inspect/flame_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tests/approval.h"
#include "tracing_core/inspect/flame_assets.h"
#include "tracing_core/inspect/flame_palette.h"

namespace tracing { namespace {

using internal::Rgb;
using internal::short_name;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FlameGraph sample(FlameKind kind = FlameKind::graph) {
  FlameBuilder builder(kind);
  builder.add("ThreadId(1)-main", 12'000);
  builder.add("ThreadId(1)-main;kernels::launch", 30'500);
  builder.add("ThreadId(1)-main;kernels::launch;kernels::compile", 61'000);
  builder.add("ThreadId(1)-main;kernels::launch", 4'500);
  builder.add("ThreadId(1)-main;kernels::launch;cache::find<int, std::allocator<int> >", 17);
  builder.add("ThreadId(1)-main;kernels::launch;kernels::run", 40'000);
  builder.add("ThreadId(2)-worker;kernels::launch;kernels::run", 80'000);
  return std::move(builder).build();
}

FlameGraph changed() {
  FlameBuilder builder(FlameKind::graph);
  builder.add("main;load", 40, 40);
  builder.add("main;load;parse", 50, 20);
  builder.add("main;run", 20, 30);
  builder.add("main;old", 0, 10);
  builder.add("main;new", 15, 0);
  return std::move(builder).build(FlameDifference{});
}

std::string draw(FlameGraph const& graph, FlamePicture const& picture = {}) {
  std::string svg;
  write_flame_svg(graph, picture, [&](std::string_view piece) { svg += piece; });
  return svg;
}

// Removes the style and the script.
std::string without_assets(std::string svg) {
  for (std::string_view const asset : {internal::kFlameStyle, internal::kFlameScript}) {
    std::size_t const at = svg.find(asset);
    EXPECT_NE(at, svg.npos);
    if (at != svg.npos) svg.replace(at, asset.size(), "...\n");
  }
  return svg;
}

// Returns a picture without its style and script, short enough for a failure's message.
std::string shown(FlameGraph const& graph, FlamePicture const& picture = {}) {
  return without_assets(draw(graph, picture));
}

std::string one_frame(std::string_view name, FlamePicture const& picture = {}) {
  FlameBuilder builder(FlameKind::graph);
  builder.add(name, 1);
  return shown(std::move(builder).build(), picture);
}

TEST(FlameSvg, IsAsApproved) {
  testing::expect_approved("graph.svg", shown(sample()));
  testing::expect_approved("reversed.svg", shown(sample(FlameKind::reversed), {.title = "Reversed"}));
  testing::expect_approved("chart.svg", shown(sample(FlameKind::chart), {.colors = FlameColors::module}));
  testing::expect_approved("icicle.svg", shown(sample(), {.title = "Icicle graph", .inverted = true}));
  testing::expect_approved("difference.svg", shown(changed()));
}

TEST(FlameSvg, RefersToNothingOutside) {
  std::string svg = draw(sample());
  // Names of XML namespaces are not fetched.
  for (std::string_view const name : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}) {
    for (std::size_t at; (at = svg.find(name)) != svg.npos;) svg.erase(at, name.size());
  }
  for (char const* const reference :
       {"http:", "https:", "url(", "@import", "src=", "href", "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(svg, Not(HasSubstr(reference)));
  }
}

TEST(FlameSvg, ReplacesInvalidCharacters) {
  std::string const svg = one_frame("a<b> & \"c\" \x01\x1b[31m \xff \xef\xbf\xbe \xc3\xa9\tz");
  std::string const bad = "\xef\xbf\xbd";
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b&gt; &amp; &quot;c&quot; " + bad + bad + "[31m " + bad + ' ' + bad +
                             " \xc3\xa9\tz (1 ns, 100.00%)</title>"));
}

TEST(FlameSvg, EscapesTitleAndUnit) {
  std::string const svg = shown(sample(), {.title = "A <title> & \"more\"", .unit = "<b>"});
  EXPECT_THAT(svg, HasSubstr("<title>A &lt;title&gt; &amp; &quot;more&quot;</title>"));
  EXPECT_THAT(svg, HasSubstr("data-unit=\"&lt;b&gt;\""));
  EXPECT_THAT(svg, HasSubstr(">Width: &lt;b&gt;, 228,017 in all;"));
}

TEST(FlameSvg, ShowsTheUnitAndTheTotal) {
  EXPECT_THAT(shown(sample()), HasSubstr(">Width: ns, 228,017 in all = 228.017 \xc2\xb5s;"));
  EXPECT_THAT(shown(sample(), {.unit = "ms"}), HasSubstr(">Width: ms, 228,017 in all = 228.017 s;"));
  EXPECT_THAT(shown(sample(), {.unit = "s"}), HasSubstr(">Width: s, 228,017 in all;"));
  EXPECT_THAT(shown(sample(), {.unit = "samples"}), HasSubstr(">Width: samples, 228,017 in all;"));
}

TEST(FlameSvg, CountsOmittedFrames) {
  EXPECT_THAT(shown(sample()), HasSubstr("; 1 frame left out, narrower than 0.01%<"));
  EXPECT_THAT(shown(sample(), {.min_width_percent = 20}), HasSubstr("; 2 frames left out, narrower than 20%<"));
  EXPECT_THAT(shown(sample(), {.min_width_percent = 0}), Not(HasSubstr("left out")));
}

TEST(FlameSvg, CountsFramesOfTheOtherRunOnly) {
  EXPECT_THAT(shown(changed()), HasSubstr("; 1 frame only before<"));
  FlameBuilder builder(FlameKind::graph);
  builder.add("main;a", 20);
  builder.add("main;never", 0);
  EXPECT_THAT(shown(std::move(builder).build(FlameDifference{})),
              AllOf(Not(HasSubstr("only before")), HasSubstr("; 1 frame left out, narrower than 0.01%<")));
}

// Returns the text of the only frame above the root, in a picture with room for `columns` columns.
std::string text_in(int columns, std::string_view name) {
  FlamePicture picture;
  picture.width = 20 + 6 + 1 + columns * 67 / 10;
  std::string const svg = one_frame(name, picture);
  std::size_t const begin = svg.find("dx=\"3\"", svg.rfind("<g class"));
  if (begin == svg.npos) return "";
  std::size_t const text = svg.find('>', begin) + 1;
  return svg.substr(text, svg.find('<', text) - text);
}

TEST(FlameSvg, CutsNamesThatDoNotFit) {
  EXPECT_EQ(text_in(15, "kernels::launch"), "kernels::launch");
  EXPECT_EQ(text_in(14, "kernels::launch"), "launch") << "without its namespace";
  EXPECT_EQ(text_in(6, "kernels::launch"), "launch");
  EXPECT_EQ(text_in(5, "kernels::launch"), "laun\xe2\x80\xa6");
  EXPECT_EQ(text_in(3, "kernels::launch"), "la\xe2\x80\xa6");
  EXPECT_EQ(text_in(2, "kernels::launch"), "");
  EXPECT_EQ(text_in(6, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"), "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2")
      << "two columns each";
  EXPECT_EQ(text_in(5, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"), "\xe6\xbc\xa2\xe5\xad\x97\xe2\x80\xa6");
}

TEST(FlameSvg, CutsALongTitle) {
  std::string const svg = shown(sample(), {.title = std::string(500, 'x')});
  EXPECT_THAT(svg, HasSubstr(">" + std::string(95, 'x') + "\xe2\x80\xa6</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>" + std::string(500, 'x') + "</title>"));
}

TEST(FlameSvg, IsWrittenInPieces) {
  FlameBuilder builder(FlameKind::graph);
  for (int i = 0; i < 5000; ++i) builder.add("main;function_" + std::to_string(i), 1);
  FlameGraph const graph = std::move(builder).build();
  std::size_t largest = 0;
  std::size_t pieces = 0;
  write_flame_svg(graph, {}, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    ++pieces;
  });
  EXPECT_GT(pieces, 8u);
  EXPECT_LT(largest, 70'000u);
}

TEST(ShortName, RemovesNamespacesAndClasses) {
  EXPECT_EQ(short_name("kernels::launch"), "launch");
  EXPECT_EQ(short_name("std::vector<int, std::allocator<int> >::push_back(std::size_t)"), "push_back(std::size_t)");
  EXPECT_EQ(short_name("a::b<c::d>"), "b<c::d>");
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("a::"), "a::");
  EXPECT_EQ(short_name("->::x)"), "x)");
}

TEST(FlamePalette, GivesANameOneColour) {
  EXPECT_NE(internal::module_color("a::x"), internal::module_color("b::x"));
  EXPECT_EQ(internal::hot_color("launch"), internal::hot_color("launch"));
  std::set<int> greens;
  for (char c = 'a'; c <= 'z'; ++c) greens.insert(internal::hot_color(std::string("f_") + c).green);
  EXPECT_GT(greens.size(), 15u) << "similar names have different colours";
}

TEST(FlamePalette, ShowsChangesByStrength) {
  EXPECT_EQ(internal::difference_color(5, 5, 30), (Rgb{232, 232, 228}));
  EXPECT_EQ(internal::difference_color(0, 0, 0), (Rgb{232, 232, 228}));
  EXPECT_EQ(internal::difference_color(20, 50, 30), (Rgb{232, 76, 61})) << "the largest change is the strongest red";
  EXPECT_EQ(internal::difference_color(0, 15, 30), (Rgb{232, 154, 145})) << "half of it is half as strong";
  EXPECT_EQ(internal::difference_color(30, 20, 30), (Rgb{179, 195, 229})) << "a third of the way to blue";
  EXPECT_EQ(internal::difference_color(~std::uint64_t{0}, 0, ~std::uint64_t{0}), (Rgb{72, 122, 232}));
}

}}  // namespace tracing
