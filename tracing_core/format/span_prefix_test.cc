#include "tracing_core/format/span_prefix.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/printed.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

std::string shortened(std::function<void()> const& emit, bool ansi = false) {
  auto const prefix = std::make_shared<SpanPrefix>();
  FormatOptions format;
  format.ansi = ansi;
  format.target = false;
  format.timer = nullptr;
  format.prefix = prefix;
  auto const lines = make_event_format([prefix, full = make_event_format(format)](TextBuffer& out, auto const& event) {
    std::size_t const begin = out.size();
    out.append("[1] ");
    full->append(out, event);
    prefix->end_line(out, begin);
    return true;
  });
  return tracing_test::printed({.format = format, .event_format = lines}, emit);
}

Span request(int item) {
  std::string const path = "/items/" + std::to_string(item) + "/details?verbose=true&lang=en";
  return TRACE_MAKE_SPAN(info, "request", path, tracing::kv("from", "127.0.0.1"));
}

TEST(SpanPrefix, KeepsFieldsThatLeaveRoom) {
  EXPECT_EQ(shortened([] {
              TRACE_SPAN(info, "request", tracing::kv("path", "/items/42/details"));
              for (int i = 0; i < 2; ++i) TRACE_INFO("working");
            }),
            "[1]  INFO request{path=\"/items/42/details\"}: working\n"
            "[1]  INFO request{path=\"/items/42/details\"}: working\n");
}

TEST(SpanPrefix, PrintsLongFieldsAboveTheFirstLine) {
  EXPECT_EQ(shortened([] {
              request(42).in_scope([] {
                TRACE_INFO("begins");
                TRACE_SPAN(info, "lookup", tracing::kv("item", 42));
                TRACE_INFO("looks");
              });
            }),
            "[1]    in request{path=\"/items/42/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request: begins\n"
            "[1]  INFO request:lookup{item=42}: looks\n");
}

TEST(SpanPrefix, LeavesOutNoMoreFieldsThanItHasTo) {
  auto const read = [](std::string const& file) {
    TRACE_SPAN(info, "load", tracing::kv("from", "/var/cache/items/42"));
    TRACE_SPAN(info, "read", file);
    TRACE_INFO("reads");
  };
  EXPECT_EQ(shortened([&read] {
              request(42).in_scope([&read] {
                read("42");
                read("details.txt");
                read("details-in-many-languages.txt");
              });
            }),
            "[1]    in request{path=\"/items/42/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request:load{from=\"/var/cache/items/42\"}:read{file=\"42\"}: reads\n"
            "[1]    in request:load{from=\"/var/cache/items/42\"}\n"
            "[1]  INFO request:load:read{file=\"details.txt\"}: reads\n"
            "[1]    in request:load{from=\"/var/cache/items/42\"}\n"
            "[1]  INFO request:load:read{file=\"details-in-many-languages.txt\"}: reads\n");
}

TEST(SpanPrefix, PrintsALineForEachSpanThatLosesItsFields) {
  EXPECT_EQ(shortened([] { request(42).in_scope([] { request(43).in_scope([] { TRACE_INFO("inside"); }); }); }),
            "[1]    in request{path=\"/items/42/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]    in request:request{path=\"/items/43/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request:request: inside\n");
}

TEST(SpanPrefix, PrintsFieldsAgainAfterAChange) {
  EXPECT_EQ(shortened([] {
              auto span = TRACE_MAKE_SPAN(info, "request", tracing::kv("path", std::string(60, 'x')),
                                          tracing::kv("status", empty));
              span.in_scope([&span] {
                TRACE_INFO("begins");
                span.record(tracing::kv("status", 200));
                TRACE_INFO("answered");
                TRACE_INFO("ends");
              });
            }),
            "[1]    in request{path=\"" + std::string(60, 'x') +
                "\"}\n"
                "[1]  INFO request: begins\n"
                "[1]    in request{path=\"" +
                std::string(60, 'x') +
                "\" status=200}\n"
                "[1]  INFO request: answered\n"
                "[1]  INFO request: ends\n");
}

TEST(SpanPrefix, NumbersSpansThatAreOpenTogether) {
  EXPECT_EQ(shortened([] {
              Span const first = request(42), second = request(43);
              for (int i = 0; i < 2; ++i) {
                first.in_scope([] { TRACE_INFO("of the first"); });
                second.in_scope([] {
                  TRACE_SPAN(info, "parse");
                  TRACE_INFO("of the second");
                });
              }
            }),
            "[1]    in request{path=\"/items/42/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request: of the first\n"
            "[1]    in request#2{path=\"/items/43/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request#2:parse: of the second\n"
            "[1]  INFO request: of the first\n"
            "[1]  INFO request#2:parse: of the second\n");
}

TEST(SpanPrefix, ReusesTheNumberOfASpanThatEnded) {
  EXPECT_EQ(shortened([] {
              std::optional<Span> first = request(42);
              first->in_scope([] { TRACE_INFO("of the first"); });
              Span const second = request(43);
              second.in_scope([] { TRACE_INFO("of the second"); });
              first.reset();
              Span const third = request(44);
              third.in_scope([] { TRACE_INFO("of the third"); });
              second.in_scope([] { TRACE_INFO("of the second"); });
            }),
            "[1]    in request{path=\"/items/42/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request: of the first\n"
            "[1]    in request#2{path=\"/items/43/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request#2: of the second\n"
            "[1]    in request{path=\"/items/44/details?verbose=true&lang=en\" from=\"127.0.0.1\"}\n"
            "[1]  INFO request: of the third\n"
            "[1]  INFO request#2: of the second\n");
}

TEST(SpanPrefix, CountsVisibleCharacters) {
  struct Case {
    std::size_t outer, inner;  // characters of a value; `a{v="..."}:b{v="..."}:` takes 16 more
    bool is_short;
  };
  for (Case const& c :
       {Case{32, 12, false}, Case{33, 12, true}, Case{12, 32, false}, Case{12, 33, true}, Case{45, 0, true}}) {
    for (char const* const character : {"x", "\u00e4"}) {
      for (bool const ansi : {false, true}) {
        auto const times = [character](std::size_t count) {
          std::string text;
          for (std::size_t i = 0; i < count; ++i) text += character;
          return text;
        };
        std::string const text = shortened(
            [&] {
              TRACE_SPAN(info, "a", tracing::kv("v", times(c.outer)));
              TRACE_SPAN(info, "b", tracing::kv("v", times(c.inner)));
              TRACE_INFO("{}", std::string(200, 'm'));
            },
            ansi);
        EXPECT_EQ(text.find("   in ") != text.npos, c.is_short) << text;
      }
    }
  }
}

TEST(SpanPrefix, KeepsFieldsOfAtMostSixteenCharacters) {
  for (auto const& [characters, stays] : {std::pair{12u, true}, std::pair{13u, false}}) {
    std::string const value(characters, 'x');
    std::string const text = shortened([&value] {
      TRACE_SPAN(info, "a", tracing::kv("v", value));
      request(42).in_scope([] { TRACE_INFO("m"); });
    });
    EXPECT_EQ(text.find("INFO a{v=") != text.npos, stays) << text;
  }
}

}}  // namespace tracing
