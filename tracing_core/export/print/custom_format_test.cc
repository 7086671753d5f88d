// User-defined formats, fields and timers.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/approval.h"
#include "tests/support/printed.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using testing::expect_approved;
using tracing_test::printed;

void emit_in_spans() {
  TRACE_SPAN(info, "outer", tracing::target("shop"), tracing::kv("n", 1));
  auto const inner = TRACE_MAKE_SPAN(debug, "inner", tracing::target("shop"), tracing::kv("late", tracing::empty));
  inner.in_scope([] { TRACE_INFO("first", tracing::target("shop"), tracing::kv("x", true)); });
  inner.record(tracing::kv("late", "soon"));
  inner.in_scope([] { TRACE_WARN("second", tracing::target("shop"), tracing::kv("text", "a \"b\"")); });
}

// Prints `LEVEL (outer > inner) fields`, and nothing for debug and trace.
std::shared_ptr<EventFormat const> arrow_format() {
  return make_event_format([](TextBuffer& out, EventView const& event) {
    if (event.metadata.level() > Level::info) return false;
    out.append(name(event.metadata.level()));
    out.append(" (");
    std::pair<TextBuffer&, std::size_t> state{out, 0};
    visit_from_root(
        event.scope,
        [](void* context, SpanRef span) {
          auto& [text, count] = *static_cast<std::pair<TextBuffer&, std::size_t>*>(context);
          if (count++ > 0) text.append(" > ");
          text.append(span.metadata().name());
        },
        &state);
    out.append(") ");
    default_fields()->append(out, event.fields, {});
    out.push_back('\n');
    return true;
  });
}

TEST(EventFormat, CanBeUserDefined) {
  PrintOptions options;
  options.event_format = arrow_format();
  EXPECT_EQ(printed(std::move(options), emit_in_spans),
            "INFO (outer > inner) first x=true\nWARN (outer > inner) second text=\"a \\\"b\\\"\"\n");
}

TEST(EventFormat, PrintsNothingIfItReturnsFalse) {
  PrintOptions options;
  options.event_format = arrow_format();
  options.span_events = SpanEvents::close;
  EXPECT_EQ(printed(std::move(options),
                    [] {
                      TRACE_DEBUG("left out");
                      TRACE_SPAN(debug, "left out, too");
                    }),
            "");
}

TEST(EventFormat, VisitsAnyNumberOfSpansFromTheRoot) {
  PrintOptions options;
  options.event_format = make_event_format([](TextBuffer& out, EventView const& event) {
    struct Seen {
      SpanRef last{};
      std::uint64_t count = 0;
      bool is_in_order = true;
    } seen;
    visit_from_root(
        event.scope,
        [](void* context, SpanRef span) {
          Seen& before = *static_cast<Seen*>(context);
          before.is_in_order &= span.parent() == before.last;
          before.last = span;
          ++before.count;
        },
        &seen);
    out.append_uint(seen.count);
    out.append(seen.is_in_order && seen.last == event.scope ? " in order\n" : " not in order\n");
    return true;
  });
  std::string expected;
  for (int const depth : {1, 128, 129, 16'383, 16'384, 40'000}) expected += std::to_string(depth) + " in order\n";
  EXPECT_EQ(printed(std::move(options),
                    [] {
                      std::vector<Span> spans;
                      for (int depth = 1; depth <= 40'000; ++depth) {
                        spans.push_back(depth == 1 ? TRACE_MAKE_SPAN(info, "root", parent(nullptr))
                                                   : TRACE_MAKE_SPAN(info, "below", parent(spans.back())));
                        for (int const wanted : {1, 128, 129, 16'383, 16'384, 40'000})
                          if (depth == wanted) TRACE_INFO("deep", parent(spans.back()));
                      }
                    }),
            expected);
}

TEST(EventFormat, ReceivesSpanEvents) {
  PrintOptions options;
  options.event_format = arrow_format();
  options.span_events = SpanEvents::enter;
  EXPECT_EQ(printed(std::move(options), [] { TRACE_SPAN(info, "seen"); }), "INFO (seen) enter\n");
}

// Prints `n -> 1; text -> "a"`.
std::shared_ptr<FieldFormat const> arrow_fields() {
  return make_field_format([](TextBuffer& out, FieldValues const& fields, TextStyle style) {
    bool first = true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields.value(i).is_empty()) continue;
      if (!std::exchange(first, false)) out.append("; ");
      if (fields.name(i) == "message") {
        append_message_text(out, fields.value(i), style);
        continue;
      }
      out.append(fields.name(i));
      out.append(" -> ");
      append_debug(out, fields.value(i));
    }
  });
}

TEST(FieldFormat, CanBeUserDefinedExceptForJson) {
  using enum FormatKind;
  for (auto const& [file, kind] :
       {std::pair{"own_fields_full.txt", full}, std::pair{"own_fields_compact.txt", compact},
        std::pair{"own_fields_pretty.txt", pretty}, std::pair{"own_fields_json.txt", json}}) {
    PrintOptions options;
    options.format.kind = kind;
    options.format.timer = nullptr;
    options.format.file = options.format.line_number = false;
    options.format.fields = arrow_fields();
    expect_approved(file, printed(std::move(options), emit_in_spans));
  }
}

TEST(FieldFormat, DecidesHowLaterValuesAreAdded) {
  class Appending final : public FieldFormat {
   public:
    void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
      default_fields()->append(out, fields, style);
    }
    void append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields,
                         TextStyle style) const noexcept override {
      out.append(out.size() == begin ? "later: " : " and later: ");
      append(out, fields, style);
    }
  };
  PrintOptions options;
  options.format.timer = nullptr;
  options.format.target = options.format.level = false;
  options.format.fields = std::make_shared<Appending const>();
  std::string const text = printed(std::move(options), [] {
    TRACE_SPAN(info, "a", tracing::kv("n", 1), tracing::kv("m", tracing::empty));
    TRACE_INFO("before");
    Span::current().record(tracing::kv("m", 2));
    TRACE_INFO("after");
    Span::current().record(tracing::kv("n", 3));
    TRACE_INFO("at last");
  });
  EXPECT_EQ(text, "a{n=1}: before\na{n=1 and later: m=2}: after\na{n=3 and later: m=2}: at last\n");
}

TEST(PrintLayer, MarksATimerWithoutTime) {
  using enum FormatKind;
  for (auto const& [kind, expected] :
       {std::pair{full, "<unknown time>  INFO shop: sold\n"}, std::pair{compact, "<unknown time>  INFO shop: sold\n"},
        std::pair{pretty, "  <unknown time>  INFO shop: sold\n\n"}, std::pair{json, ""}}) {
    PrintOptions options;
    options.format.kind = kind;
    options.format.file = options.format.line_number = false;
    options.format.timer = make_timer([](TextBuffer&, Instant) { return false; });
    EXPECT_EQ(printed(std::move(options), [] { TRACE_INFO("sold", tracing::target("shop")); }), expected);
  }
}

TEST(PrintLayer, GivesTimersTheTimeOfTheRecord) {
  Instant printed_time;
  PrintOptions options;
  options.format.timer = make_timer([&printed_time](TextBuffer&, Instant time) {
    printed_time = time;
    return true;
  });
  Instant const before = Instant::now();
  printed(std::move(options), [] { TRACE_INFO("now"); });
  EXPECT_GE(printed_time, before);
  EXPECT_LE(printed_time, Instant::now());
}

}}  // namespace tracing
