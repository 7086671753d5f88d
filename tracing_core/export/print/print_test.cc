#include "tracing_core/export/print.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/approval.h"
#include "tests/support/printed.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using testing::expect_approved;
using tracing_test::printed;

std::shared_ptr<Timer const> fixed_time() {
  return make_timer([](TextBuffer& out, Instant) {
    out.append("2026-01-08T23:56:09.977977Z");
    return true;
  });
}

PrintOptions format(FormatOptions options) {
  if (options.timer != nullptr) options.timer = fixed_time();
  // Print neither file nor line, since they change with this test.
  if (!options.file) options.file = false;
  if (!options.line_number) options.line_number = false;
  return {.format = options};
}

void emit_a_little_of_everything() {
  TRACE_SPAN(info, "request", tracing::kv("id", 7), tracing::kv("path", "/a\n\"b\""));
  TRACE_INFO("starting");
  {
    auto inner = TRACE_MAKE_SPAN(debug, "parse", tracing::kv("size", tracing::empty), tracing::kv("ratio", 0.5));
    inner.in_scope([&] {
      TRACE_DEBUG("read {} bytes", 12, tracing::kv("last", true));
      inner.record(tracing::kv("size", 3));
      TRACE_WARN("an escape \x1b[31m in a message", tracing::kv("text", "and \x1b[31m in a field"));
      TRACE_ERROR("a root", tracing::parent(nullptr));
    });
  }
  TRACE_VALUES(trace, tracing::kv("x", 1), tracing::kv("log.file", "hidden"));
}

struct Named {
  char const* name;
  FormatOptions options;
};

TEST(PrintLayer, PrintsTheFourFormats) {
  using enum FormatKind;
  for (Named const& c : {
           Named{"full.txt", {.kind = full}},
           Named{"full_ansi.txt", {.kind = full, .ansi = true}},
           Named{"full_bare.txt", {.kind = full, .target = false, .level = false, .timer = nullptr}},
           Named{"compact.txt", {.kind = compact}},
           Named{"compact_ansi.txt", {.kind = compact, .ansi = true}},
           Named{"pretty.txt", {.kind = pretty}},
           Named{"pretty_ansi.txt", {.kind = pretty, .ansi = true}},
           Named{"json.txt", {.kind = json}},
           Named{"json_flat.txt", {.kind = json, .flatten_event = true, .current_span = false}},
       }) {
    expect_approved(c.name, printed(format(c.options), emit_a_little_of_everything));
  }
}

// The texts of spans are cached until a field changes.
TEST(PrintLayer, ShowsFieldsRecordedBetweenTwoLinesOfASpan) {
  for (FormatKind const kind : {FormatKind::full, FormatKind::json}) {
    std::string const text = printed(format({.kind = kind, .timer = nullptr}), [] {
      auto outer = TRACE_MAKE_SPAN(info, "outer", tracing::kv("done", 0));
      auto const in_outer = outer.enter();
      TRACE_SPAN(info, "inner", tracing::kv("x", 1));
      for (int i = 1; i <= 4; ++i) {
        TRACE_INFO("first");
        TRACE_INFO("second");
        outer.record(tracing::kv("done", i * 11));
      }
      TRACE_INFO("last");
    });
    std::size_t at = 0;
    for (std::string_view const done : {"0", "0", "11", "11", "22", "22", "33", "33", "44"}) {
      std::size_t const end = text.find('\n', at);
      std::string_view const line = std::string_view(text).substr(at, end - at);
      std::size_t const value = line.rfind("done");
      ASSERT_NE(value, line.npos) << line;
      std::string_view const shown = line.substr(value + (kind == FormatKind::json ? 6 : 5));
      EXPECT_TRUE(shown.starts_with(std::string(done) + (kind == FormatKind::json ? "," : "}"))) << line;
      at = end + 1;
    }
    EXPECT_EQ(at, text.size());
  }
}

// Emits a download with a progress field, and a status that is first recorded after it.
void emit_progress() {
  auto download = TRACE_MAKE_SPAN(info, "download", tracing::kv("url", "a"), tracing::kv("percent", tracing::empty),
                                  tracing::kv("status", tracing::empty));
  auto const inside = download.enter();
  for (int i = 0; i < 3; ++i) download.record(tracing::kv("percent", i));
  download.record(tracing::kv("status", "retrying"));
  download.record(tracing::kv("percent", 3), tracing::kv("url", "b"));
  download.record(tracing::kv("status", "done, after a while"));
  TRACE_INFO("event");
}

TEST(PrintLayer, ShowsTheLastValueOfAFieldInThePlaceOfTheFirst) {
  auto const print = [](FormatKind kind) {
    return printed(format({.kind = kind, .target = false, .level = false, .timer = nullptr}), emit_progress);
  };
  EXPECT_EQ(print(FormatKind::full), "download{url=\"b\" percent=3 status=\"done, after a while\"}: event\n");
  EXPECT_EQ(print(FormatKind::compact), "download: event url=\"b\" percent=3 status=\"done, after a while\"\n");
  EXPECT_EQ(print(FormatKind::pretty),
            "   event\n    in download with url: \"b\", percent: 3, status: \"done, after a while\"\n\n");
  EXPECT_NE(print(FormatKind::json)
                .find(R"("span":{"percent":3,"status":"done, after a while","url":"b","name":"download"})"),
            std::string::npos);
}

TEST(PrintLayer, ShowsAllValuesOfAFieldAsTheReferenceDoes) {
  auto const print = [](FormatKind kind) {
    return printed(format({.kind = kind, .all_values = true, .target = false, .level = false, .timer = nullptr}),
                   emit_progress);
  };
  EXPECT_EQ(print(FormatKind::full),
            "download{url=\"a\" percent=0 percent=1 percent=2 status=\"retrying\" percent=3 url=\"b\" "
            "status=\"done, after a while\"}: event\n");
}

TEST(PrintLayer, LayersOfOneRegistryMayShowAllValuesOrTheLast) {
  std::string all, last;
  auto const to = [](std::string& out, bool all_values) {
    PrintOptions options = format({.all_values = all_values, .target = false, .level = false, .timer = nullptr});
    options.writer = to_sink(make_sink([&out](Level, std::string_view line) { out += line; }));
    return print_layer(std::move(options));
  };
  with_default(RegistryBuilder().with(to(all, true)).with(to(last, false)).build(), emit_progress);
  EXPECT_NE(all.find("percent=0 percent=1"), all.npos) << all;
  EXPECT_EQ(last, "download{url=\"b\" percent=3 status=\"done, after a while\"}: event\n");
}

TEST(PrintLayer, ALineDoesNotGrowWithTheNumberOfRecordings) {
  for (FormatKind const kind : {FormatKind::full, FormatKind::compact, FormatKind::pretty, FormatKind::json}) {
    std::string const text = printed(format({.kind = kind}), [] {
      auto span =
          TRACE_MAKE_SPAN(info, "download", tracing::kv("percent", tracing::empty), tracing::kv("at", tracing::empty));
      auto const inside = span.enter();
      for (int i = 0; i < 20000; ++i) span.record(tracing::kv("percent", i), tracing::kv("at", std::to_string(i)));
      TRACE_INFO("done");
      auto const registry = static_cast<Registry*>(current_subscriber());
      EXPECT_LT(registry->span(span.id()).values().size_bytes(), 512u);
    });
    EXPECT_LT(text.size(), 500u);
    EXPECT_NE(text.find("19999"), text.npos);
  }
}

// ---- names in JSON ----

// Parses the text and fails if an object has two members of one name.
nlohmann::json strict(std::string const& text) {
  std::vector<std::set<std::string>> names;
  return nlohmann::json::parse(text, [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    bool const is_repeated = event == Event::key && !names.back().insert(parsed.get<std::string>()).second;
    EXPECT_FALSE(is_repeated) << text;
    return true;
  });
}

TEST(PrintLayer, JsonKeepsAFieldThatHasTheNameOfAMember) {
  auto const line = strict(printed(format({.kind = FormatKind::json}), [] {
    TRACE_SPAN(info, "load", tracing::kv("name", "resnet50"), tracing::kv("fields.name", 1));
    TRACE_INFO("loading", tracing::kv("level", 3), tracing::kv("name", "x"));
  }));
  EXPECT_EQ(line["span"], nlohmann::json::parse(R"({"fields.fields.name":1,"fields.name":"resnet50","name":"load"})"));
  EXPECT_EQ(line["spans"][0], line["span"]);
  EXPECT_EQ(line["fields"], nlohmann::json::parse(R"({"message":"loading","level":3,"name":"x"})"));
}

TEST(PrintLayer, FlatJsonKeepsFieldsThatHaveTheNamesOfMembers) {
  FormatOptions const options{.kind = FormatKind::json,
                              .file = true,
                              .line_number = true,
                              .thread_ids = true,
                              .thread_names = true,
                              .flatten_event = true};
  auto const line = strict(printed(format(options), [] {
    TRACE_SPAN(info, "load");
    TRACE_INFO("loading", kv("level", 1), kv("target", 2), kv("timestamp", 3), kv("span", 4), kv("spans", 5),
               kv("filename", 6), kv("line_number", 7), kv("threadName", 8), kv("threadId", 9), kv("test", 10));
  }));
  int number = 0;
  for (char const* const name :
       {"level", "target", "timestamp", "span", "spans", "filename", "line_number", "threadName", "threadId"}) {
    EXPECT_EQ(line["fields." + std::string(name)], ++number);
    EXPECT_TRUE(line.contains(name));
  }
  EXPECT_EQ(line["test"], 10);
  EXPECT_EQ(line["message"], "loading");
  EXPECT_EQ(line["level"], "INFO");
}

TEST(PrintLayer, FlatJsonReservesOnlyTheNamesOfItsOptions) {
  auto const line =
      strict(printed(format({.kind = FormatKind::json, .timer = nullptr, .flatten_event = true, .span_list = false}),
                     [] { TRACE_INFO("out of spans", kv("timestamp", 1), kv("spans", 2), kv("span", 3)); }));
  EXPECT_EQ(line["timestamp"], 1);
  EXPECT_EQ(line["spans"], 2);
  EXPECT_EQ(line["fields.span"], 3) << "the name does not depend on whether there is a span";
}

TEST(PrintLayer, JsonKeepsRepeatedFields) {
  RuntimeCallsite const event({.kind = Kind::event, .name = "event", .target = "t", .fields = {"a", "b", "a", "a"}});
  RuntimeCallsite const span(
      {.kind = Kind::span, .name = "span", .target = "t", .fields = {"r#a", "a", "name", "b", "b"}});
  struct Point {
    int x;
  } const point{1}, * const p = &point;
  std::string const text = printed(format({.kind = FormatKind::json}), [&] {
    Value const values[] = {Value::of_i64(1), Value::of_i64(2), Value::of_i64(3), Value::of_i64(4), Value::of_i64(5)};
    auto const entered = Span::make(span.callsite(), values).entered();
    emit_event(event.callsite(), values);
    TRACE_INFO("both", p->x, kv("p.x", 2));
  });
  auto const first = strict(text.substr(0, text.find('\n')));
  EXPECT_EQ(first["fields"]["a"], 1);
  EXPECT_EQ(first["fields"]["fields.a"], 3);
  EXPECT_EQ(first["fields"]["fields.4.a"], 4);
  EXPECT_EQ(first["span"]["fields.name"], 3);
  EXPECT_EQ(first["span"]["b"], 4);
  EXPECT_EQ(first["span"]["fields.b"], 5);
  auto const second = strict(text.substr(text.find('\n') + 1));
  EXPECT_EQ(second["fields"]["p.x"], 1);
  EXPECT_EQ(second["fields"]["fields.p.x"], 2);
}

TEST(PrintLayer, ShowsTheSpansThatItsOwnFilterAdmits) {
  std::string all;
  std::string some;
  auto to = [](std::string& out) {
    PrintOptions options = format({.timer = nullptr});
    options.writer = to_sink(make_sink([&out](Level, std::string_view line) { out.append(line); }));
    return print_layer(std::move(options));
  };
  auto only_info = std::make_unique<EnvFilter>("info");
  with_default(RegistryBuilder().with(to(all)).with(to(some), std::move(only_info)).build(), [] {
    TRACE_SPAN(info, "outer", tracing::kv("x", 1));
    TRACE_SPAN(debug, "hidden", tracing::kv("x", 2));
    TRACE_SPAN(info, "inner", tracing::kv("x", 3));
    for (int i = 0; i < 3; ++i) TRACE_INFO("line", tracing::target("t"));
  });
  auto three = [](std::string const& line) { return line + line + line; };
  EXPECT_EQ(all, three(" INFO outer{x=1}:hidden{x=2}:inner{x=3}: t: line\n"));
  EXPECT_EQ(some, three(" INFO outer{x=1}:inner{x=3}: t: line\n"));
}

// As in tracing-subscriber, an enter is printed even if the thread is already in the span.
TEST(PrintLayer, PrintsEachEnterOfASpanEnteredTwice) {
  PrintOptions options = format({.timer = nullptr});
  options.span_events = SpanEvents::full;
  std::string const text = printed(options, [] {
    auto span = TRACE_MAKE_SPAN(info, "work");
    span.in_scope([&] { span.in_scope([] { TRACE_INFO("inside"); }); });
  });
  expect_approved("span_events.txt", text);
}

// Names made at run time, for instance of loggers, may contain line ends and control sequences.
TEST(EscapedNames, HaveNoLineEndsAndControlCharacters) {
  std::string const odd = "we\"ird [x]=\n\x1b[31mred\r\x7f\xc2\x9b\xff caf\xc3\xa9";
  std::string const shown = "we\"ird [x]=\\n\\x1b[31mred\\r\\x7f\\u{9b}\\xff caf\xc3\xa9";
  RuntimeCallsite const span({.kind = Kind::span, .name = odd, .target = odd, .fields = {odd}});
  RuntimeCallsite const event({.target = odd, .fields = {"message", odd, "r#type"}});
  auto const emit = [&] {
    Value const of_span[] = {Value::of_u64(1)};
    Value const of_event[] = {Value::of_verbatim("spoken"), Value::of_u64(2), Value::of_u64(3)};
    auto const entered = Span::make(span.callsite(), of_span).entered();
    emit_event(event.callsite(), of_event);
  };
  FormatOptions options{.timer = nullptr};
  EXPECT_EQ(printed(format(options), emit),
            " INFO " + shown + "{" + shown + "=1}: " + shown + ": spoken " + shown + "=2 type=3\n");
  options.kind = FormatKind::compact;
  EXPECT_EQ(printed(format(options), emit),
            " INFO " + shown + ": " + shown + ": spoken " + shown + "=2 type=3 " + shown + "=1\n");
  options.kind = FormatKind::pretty;
  EXPECT_EQ(printed(format(options), emit), "   INFO " + shown + ": spoken, " + shown + ": 2, type: 3\n    in " +
                                                shown + "::" + shown + " with " + shown + ": 1\n\n");
  for (FormatKind const kind : {FormatKind::full, FormatKind::compact, FormatKind::pretty, FormatKind::json}) {
    for (bool const ansi : {false, true}) {
      std::string const text = printed(format({.kind = kind, .ansi = ansi, .timer = nullptr}), emit);
      EXPECT_EQ(text.find("\x1b[31m"), text.npos) << text;
      EXPECT_EQ(text.find("=\n"), text.npos) << text;
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kind == FormatKind::pretty ? 3 : 1) << text;
    }
  }
  options = {.name_sanitization = false, .timer = nullptr};  // as tracing-subscriber prints them
  EXPECT_EQ(printed(format(options), emit),
            " INFO " + odd + "{" + odd + "=1}: " + odd + ": spoken " + odd + "=2 type=3\n");
}

TEST(EscapedNames, MayBeConstantsOfTheProgram) {
  EXPECT_EQ(printed(format({.timer = nullptr}),
                    [] {
                      TRACE_SPAN(info, "a\nb\x1b", tracing::target("t"));
                      TRACE_SPAN(info, "caf\xc3\xa9", tracing::target("t"));
                      TRACE_INFO("spoken", tracing::target("t"));
                    }),
            " INFO a\\nb\\x1b:caf\xc3\xa9: t: spoken\n");
}

// Text of types, as display() prints it, may have line ends and control sequences.
TEST(EscapedValues, StayInTheirRecord) {
  std::string const odd = "a\n INFO t: forged \x1b[31m\xff";
  std::string const shown = "a\n       INFO t: forged \\x1b[31m\\xff";
  auto const emit = [&] {
    TRACE_SPAN(info, "s", tracing::target("t"), tracing::kv("v", tracing::display(odd)));
    for (int i = 0; i < 3; ++i)
      TRACE_INFO("m {}", odd, tracing::target("t"), tracing::kv("d", tracing::display(odd)), tracing::kv("q", odd));
  };
  auto const thrice = [](std::string const& line) { return line + line + line; };
  std::string const quoted = "\"a\\n INFO t: forged \\u{1b}[31m\\xff\"";
  FormatOptions options{.value_sanitization = true, .timer = nullptr};
  EXPECT_EQ(printed(format(options), emit),
            thrice(" INFO s{v=" + shown + "}: t: m " + shown + " d=" + shown + " q=" + quoted + "\n"));
  options.ansi = true;
  EXPECT_NE(printed(format(options), emit).find("m " + shown + " "), std::string::npos);
  EXPECT_EQ(printed(format(options), emit).find(odd), std::string::npos);
  options = {.kind = FormatKind::pretty, .value_sanitization = true, .timer = nullptr};
  EXPECT_EQ(printed(format(options), emit), thrice("   INFO t: m " + shown + ", d: " + shown + ", q: " + quoted +
                                                   "\n    in t::s with v: " + shown + "\n\n"));
  options = {.ansi_sanitization = false, .timer = nullptr};  // as tracing-subscriber prints them
  EXPECT_EQ(printed(format(options), emit),
            thrice(" INFO s{v=" + odd + "}: t: m " + odd + " d=" + odd + " q=" + quoted + "\n"));
}

TEST(EscapedValues, KeepErrorsInTheirRecord) {
  auto const error = std::make_exception_ptr(std::runtime_error("no\n INFO such \x1b file"));
  auto const emit = [&] { TRACE_INFO("failed", tracing::target("t"), tracing::kv("error", error)); };
  EXPECT_EQ(printed(format({.value_sanitization = true, .timer = nullptr}), emit),
            " INFO t: failed error=no\n       INFO such \\x1b file\n");
}

TEST(EscapedNames, KeepThreadNamesInTheirRecord) {
  std::thread([] {
    set_thread_name("w\n\x1b[2J");
    for (FormatKind const kind : {FormatKind::full, FormatKind::compact, FormatKind::pretty}) {
      std::string const text = printed(format({.kind = kind, .thread_names = true, .timer = nullptr}),
                                       [] { TRACE_INFO("spoken", tracing::target("t")); });
      EXPECT_NE(text.find("w\\n\\x1b[2J"), text.npos) << text;
      EXPECT_EQ(text.find('\x1b'), text.npos) << text;
    }
  }).join();
}

// The texts are those of tracing-subscriber.
TEST(KeywordsAsNames, LoseTheirPrefixExceptBeforeSourcesOfAnError) {
  RuntimeCallsite const callsite({.target = "t", .fields = {"r#type"}});
  std::exception_ptr error;
  try {
    try {
      throw std::runtime_error("cause");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("effect"));
    }
  } catch (...) {
    error = std::current_exception();
  }
  auto const emit = [&] {
    Value const value = internal::value_of(error);
    emit_event(callsite.callsite(), &value);
  };
  EXPECT_EQ(printed(format({.timer = nullptr}), emit), " INFO t: type=effect r#type.sources=[cause]\n");
  EXPECT_EQ(printed(format({.kind = FormatKind::pretty, .timer = nullptr}), emit),
            "   INFO t: type: effect, r#type.sources: [cause]\n\n");
}

}}  // namespace tracing
