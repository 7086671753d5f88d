#include "tracing_core/format/repeated_fields.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/support/printed.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

// Makes lines as testlog does, and counts what is written.
struct Output {
  std::uint64_t writes = 0;

  std::string print(std::function<void()> const& emit, bool ansi = false) {
    FormatOptions format;
    format.ansi = ansi;
    format.target = false;
    format.timer = nullptr;
    format.repeated = std::make_shared<RepeatedFields const>(ansi);
    auto const append = [this, repeated = format.repeated, full = make_event_format(format)](TextBuffer& out,
                                                                                             auto const& event) {
      full->append(out, event);
      repeated->end_line(out, writes++);
      return true;
    };
    return tracing_test::printed({.format = format, .event_format = make_event_format(append)}, emit);
  }
};

constexpr std::string_view kPath = "/items/42/details?verbose=true&lang=en";

TEST(RepeatedFields, AreLeftOutUntilTheSpansAreShort) {
  std::string const text = Output().print([] {
    TRACE_SPAN(info, "request", tracing::kv("path", kPath));
    TRACE_INFO("the spans are short");
    TRACE_SPAN(info, "lookup", tracing::kv("item", 42));
    TRACE_INFO("begins");
    TRACE_INFO("goes on");
    {
      TRACE_SPAN(info, "read", tracing::kv("file", "/cache/items/42"));
      TRACE_INFO("opens");
      TRACE_INFO("reads");
    }
    TRACE_INFO("ends");
  });
  EXPECT_EQ(text,
            " INFO request{path=\"/items/42/details?verbose=true&lang=en\"}: the spans are short\n"
            " INFO request{...}:lookup{item=42}: begins\n"
            " INFO request{...}:lookup{item=42}: goes on\n"
            " INFO request{...}:lookup{item=42}:read{file=\"/cache/items/42\"}: opens\n"
            " INFO request{...}:lookup{item=42}:read{file=\"/cache/items/42\"}: reads\n"
            " INFO request{...}:lookup{item=42}: ends\n");
}

TEST(RepeatedFields, AreLeftOutOfInnerSpansIfTheyMustBe) {
  std::string const long_text(60, 'x');
  std::string const text = Output().print([&] {
    TRACE_SPAN(info, "outer", tracing::kv("a", long_text));
    TRACE_SPAN(info, "inner", tracing::kv("b", long_text));
    for (int i = 0; i < 2; ++i) TRACE_INFO("works");
  });
  EXPECT_EQ(text, " INFO outer{a=\"" + long_text + "\"}:inner{b=\"" + long_text + "\"}: works\n" +
                      " INFO outer{...}:inner{...}: works\n");
}

// Emits the second of two lines in a span with long fields. Returns whether it has them.
bool has_fields(
    std::function<void(Output&, Span&)> const& between, void (*second)() = [] { TRACE_INFO("second"); }) {
  Output output;
  std::string const text = output.print([&] {
    auto span = TRACE_MAKE_SPAN(info, "request", tracing::kv("path", std::string(60, 'x')),
                                tracing::kv("status", tracing::empty));
    span.in_scope([] { TRACE_INFO("first"); });
    between(output, span);
    span.in_scope(second);
  });
  std::string_view const line = std::string_view(text).substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_NE(line.find("second"), line.npos) << text;
  return line.find("request{path=") != line.npos;
}

TEST(RepeatedFields, StayInALineThatDoesNotFollow) {
  using Between = std::function<void(Output&, Span&)>;
  struct Case {
    char const* name;
    Between between;
    bool stay;
  };
  auto const emit = [](int lines) {
    return [lines](Output&, Span& span) {
      for (int i = 0; i < lines; ++i) span.in_scope([] { TRACE_INFO("between"); });
    };
  };
  for (Case const &c : {
           Case{"nothing", [](Output&, Span&) {}, false},
           Case{"another line of the thread", emit(1), false},
           Case{"nineteen lines", emit(19), false},
           Case{"twenty lines", emit(20), true},
           Case{"a line outside the span", [](Output&, Span&) { TRACE_INFO("outside"); }, true},
           Case{"other output", [](Output&output, Span&) { ++output.writes; }, true},
           Case{"another value", [](Output&, Span&span) { span.record(tracing::kv("status", 200)); }, true},
       }) {
    EXPECT_EQ(has_fields(c.between), c.stay) << c.name;
  }
}

TEST(RepeatedFields, StayInErrorsAndWarnings) {
  auto const nothing = [](Output&, Span&) {};
  EXPECT_TRUE(has_fields(nothing, [] { TRACE_ERROR("second"); }));
  EXPECT_TRUE(has_fields(nothing, [] { TRACE_WARN("second"); }));
  EXPECT_FALSE(has_fields(nothing, [] { TRACE_INFO("second"); }));
  EXPECT_FALSE(has_fields(nothing, [] { TRACE_DEBUG("second"); }));
  EXPECT_FALSE(has_fields(nothing, [] { TRACE_TRACE("second"); }));
}

TEST(RepeatedFields, StayInTheFirstLineOfAThread) {
  std::string const text = Output().print([] {
    auto const span = TRACE_MAKE_SPAN(info, "request", tracing::kv("path", std::string(60, 'x')));
    auto const emit = [&] { span.in_scope([] { TRACE_INFO("works"); }); };
    emit();
    auto const same = std::shared_ptr<Subscriber>(std::shared_ptr<void>(), current_subscriber());
    std::thread([&] { with_default(same, [&] { emit(), emit(); }); }).join();
    emit();
  });
  std::string const whole = " INFO request{path=\"" + std::string(60, 'x') + "\"}: works\n";
  EXPECT_EQ(text, whole + whole + " INFO request{...}: works\n" + whole);
}

TEST(RepeatedFields, StayInANewSpanOfTheSameValues) {
  std::string const text = Output().print([] {
    for (int i = 0; i < 2; ++i) {
      TRACE_SPAN(info, "request", tracing::kv("path", std::string(60, 'x')));
      TRACE_INFO("works");
    }
  });
  EXPECT_EQ(text.find("{...}"), text.npos) << text;
}

TEST(RepeatedFields, StayIfTheyAreShort) {
  for (auto const& [characters, stay] : {std::pair{12u, true}, std::pair{13u, false}}) {
    std::string const value(characters, 'x');
    std::string const text = Output().print([&value] {
      TRACE_SPAN(info, "a", tracing::kv("v", value));
      TRACE_SPAN(info, "b", tracing::kv("v", std::string(60, 'x')));
      for (int i = 0; i < 2; ++i) TRACE_INFO("m");
    });
    EXPECT_EQ(text.find("a{...}:") == text.npos, stay) << text;
  }
}

TEST(RepeatedFields, AreMeasuredInVisibleCharacters) {
  for (char const* const character : {"x", "\u00e4"}) {
    for (bool const ansi : {false, true}) {
      for (auto const& [characters, is_short] : {std::pair{53, true}, std::pair{54, false}}) {  // and `a{v=""}:`
        std::string value;
        for (int i = 0; i < characters - 1; ++i) value += character;
        std::string const text = Output().print(
            [&] {
              TRACE_SPAN(info, "a", tracing::kv("v", value));
              for (int i = 0; i < 2; ++i) TRACE_INFO("m");
            },
            ansi);
        EXPECT_EQ(text.find("...") == text.npos, is_short) << text;
      }
    }
  }
}

TEST(RepeatedFields, HaveTheColoursOfFields) {
  std::string const text = Output().print(
      [] {
        TRACE_SPAN(info, "a", tracing::kv("v", std::string(60, 'x')));
        for (int i = 0; i < 2; ++i) TRACE_INFO("m");
      },
      true);
  EXPECT_NE(text.find("\x1b[1ma\x1b[0m\x1b[1m{\x1b[0m...\x1b[1m}\x1b[0m\x1b[2m:\x1b[0m m\n"), text.npos) << text;
}

TEST(RepeatedFields, StayBelowTheOutermostSixteenSpans) {
  std::string const text = Output().print([] {
    std::function<void(int)> const nest = [&](int depth) {
      TRACE_SPAN(info, "call", tracing::kv("value", "of more than sixteen characters"));
      if (depth > 1) return nest(depth - 1);
      for (int i = 0; i < 2; ++i) TRACE_INFO("m");
    };
    nest(18);
  });
  std::string_view const last = std::string_view(text).substr(text.find('\n') + 1);
  std::size_t left_out = 0;
  for (std::size_t at = last.find("{...}"); at != last.npos; at = last.find("{...}", at + 1)) ++left_out;
  EXPECT_EQ(left_out, 16u) << last;
  EXPECT_TRUE(last.ends_with("call{value=\"of more than sixteen characters\"}: m\n")) << last;
}

}}  // namespace tracing
