// All outputs agree about a value: the four formats, a recording as `testlog show` prints it, the matchers and filters.
// There is a row for each kind of value; most values are temporaries. Also run by valgrind, and with AddressSanitizer's
// checks of scopes that have ended: no value refers to what is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "testlog/matchers.h"
#include "testlog/testdata/run.h"
#include "tests/support/lazy.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace values_test {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using tracing_test::lazy;

// ---- types of values ----

enum class Side : char { buy = 'B', sell = 'S' };
enum class Letter : char { known = 'k' };
TRACE_ENUM(Letter, known)
enum class Small : std::uint8_t { one = 1 };
enum OldByte : std::uint8_t { kOldByte = 66 };
enum class Flag : bool { on = true };
enum class Streamed { x };
std::ostream& operator<<(std::ostream& os, Streamed) { return os << "streamed x"; }

// Makes what the value refers to each time.
template <class T>
struct ByValue {
  T content;
  bool has = true;
  bool has_value() const { return has; }
  T operator*() const { return content; }
};
template <class T>
ByValue<T> by_value(T content) {
  return {std::move(content)};
}

struct Order {
  Side side;
  std::optional<Side> other;
  std::string name() const { return "a name that is long enough to be on the heap"; }
};
TRACE_FIELDS(Order, side, other, name())

struct Point {
  int x = 1;
  friend std::ostream& operator<<(std::ostream& os, Point const& p) { return os << "at " << p.x; }
};
struct Angle {
  double degrees = 90;
};
struct Throws {
  friend std::ostream& operator<<(std::ostream&, Throws const&) { throw std::runtime_error("thrown"); }
};
struct Name {
  std::string text = "a text that is long enough to be on the heap";
  operator std::string_view() const { return text; }
};

}  // namespace values_test

template <>
struct fmt::formatter<values_test::Angle> : fmt::formatter<double> {
  auto format(values_test::Angle const& x, fmt::format_context& context) const {
    return fmt::formatter<double>::format(x.degrees, context);
  }
};

namespace values_test {

std::string long_text() { return "a text that is long enough to be on the heap"; }
std::string const kQuoted = "\"" + long_text() + "\"";
std::vector<bool> bits{true, false};
std::bitset<4> bit_set(2);
std::atomic<bool> const atomic_flag{true};
std::atomic<int> const atomic_number{-3};
std::atomic<Side> const atomic_side{Side::sell};
int counted = 4;

// ---- the table ----

struct Kind {
  char const* name;
  void (*emit)();       // an event in a span, each with the value as its field `v`, the event also in its message
  std::string text;     // after `v=`; empty: the field is absent
  std::string message;  // in a message
  json of_event;        // as the member `v` of an event
  json of_span{};       // and of a span, if that differs
  std::optional<testlog::FieldValue> matched{};  // what it equals, if that is not its text in a message
};

#define KIND(value, ...)                                           \
  Kind {                                                           \
#value,                                                          \
        [] {                                                         \
          TRACE_SPAN(info, "s", tracing::kv("v", value));            \
          TRACE_INFO("m {} end", value, tracing::kv("v", value));    \
        },                                                           \
        __VA_ARGS__ \
  }

template <class T>
Kind number(char const* name, void (*emit)(), T x) {
  std::string const text = json(x).dump();
  return {name, emit, text, text, x, {}, testlog::FieldValue(x)};
}
#define NUMBER(value, plain)                                    \
  number(                                                       \
      #value,                                                   \
      [] {                                                      \
        TRACE_SPAN(info, "s", tracing::kv("v", value));         \
        TRACE_INFO("m {} end", value, tracing::kv("v", value)); \
      },                                                        \
      plain)

std::vector<Kind> const& kinds() {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  static auto const& all = *new std::vector<Kind>{
      // numbers and booleans
      NUMBER(true, true),
      NUMBER(-3, -3),
      NUMBER(std::uint8_t(200), 200),
      NUMBER(std::int16_t(-3), -3),
      NUMBER(std::numeric_limits<std::int64_t>::min(), kMin),
      NUMBER(std::numeric_limits<std::uint64_t>::max(), kMax),
      NUMBER(0.1, 0.1),
      NUMBER(bits[0], true),
      NUMBER(bits[1], false),
      NUMBER(bit_set[1], true),
      NUMBER(std::true_type(), true),
      NUMBER(atomic_flag, true),
      NUMBER(atomic_number, -3),
      NUMBER(std::atomic_ref<int>(counted), 4),
      NUMBER(Small::one, 1),
      NUMBER(kOldByte, 66),
      NUMBER(Flag::on, true),
      NUMBER(std::optional<int>(3), 3),
      NUMBER(by_value(7), 7),
      NUMBER(by_value(by_value(true)), true),
      KIND(2.0, "2.0", "2", 2.0, {}, 2.0),
      KIND(0.1F, "0.1", "0.1", 0.1, {}, 0.1F),
      KIND(static_cast<tracing::Value::Int128>(kMin) * 2, "-18446744073709551616", "-18446744073709551616",
           "-18446744073709551616"),
      // characters and enumerations of them
      KIND('c', "\"c\"", "c", "c"),
      KIND('\n', "\"\\n\"", "\n      ", "\n", {}, "\n"),
      KIND(u8'c', "\"c\"", "c", "c"),
      KIND(L'\u00e9', "\"\u00e9\"", "\u00e9", "\u00e9"),
      KIND(U'\U0001f600', "\"\U0001f600\"", "\U0001f600", "\U0001f600"),
      KIND(Side::buy, "\"B\"", "B", "B"),
      KIND(std::optional(Side::sell), "\"S\"", "S", "S"),
      KIND(atomic_side, "\"S\"", "S", "S"),
      KIND(Letter('x'), "\"x\"", "x", "x"),
      KIND(Letter::known, "known", "known", "known"),
      KIND(by_value(Side::buy), "\"B\"", "B", "B"),
      // text
      KIND("text", "\"text\"", "text", "text"),
      KIND("up to\0 the NUL", "\"up to\"", "up to", "up to"),
      KIND(long_text(), kQuoted, long_text(), long_text()),
      KIND(std::string_view("view"), "\"view\"", "view", "view"),
      KIND(Name(), kQuoted, long_text(), long_text()),
      KIND(by_value(long_text()), kQuoted, long_text(), long_text()),
      KIND(std::optional(by_value(long_text())), kQuoted, long_text(), long_text()),
      KIND(by_value(std::optional(long_text())), kQuoted, long_text(), long_text()),
      KIND(u8"\u20ac", "\"\u20ac\"", "\u20ac", "\u20ac"),
      KIND(std::filesystem::path("/a b").u8string(), "\"/a b\"", "/a b", "/a b"),
      KIND(std::u8string_view(u8"view"), "\"view\"", "view", "view"),
      KIND(L"wide", "\"wide\"", "wide", "wide"),
      KIND(std::wstring(100, L'w'), "\"" + std::string(100, 'w') + "\"", std::string(100, 'w'), std::string(100, 'w')),
      KIND(u"16\u20ac", "\"16\u20ac\"", "16\u20ac", "16\u20ac"),
      KIND(std::u32string(U"32"), "\"32\"", "32", "32"),
      KIND(by_value(std::wstring(L"wide")), "\"wide\"", "wide", "wide"),
      KIND("a \"quote\"", "\"a \\\"quote\\\"\"", "a \"quote\"", "a \"quote\""),
      KIND(std::filesystem::path("/a b"), "\"/a b\"", "\"/a b\"", "\"/a b\""),
      // wrapped
      KIND(tracing::display(long_text()), long_text(), long_text(), long_text()),
      KIND(tracing::debug(long_text()), kQuoted, kQuoted, kQuoted),
      KIND(tracing::display(2.0), "2", "2", "2"),
      KIND(tracing::display(L"wide"), "wide", "wide", "wide"),
      KIND(tracing::display(atomic_number), "-3", "-3", "-3"),
      KIND(tracing::pretty(std::vector<int>(1, 7)), "[\n          7,\n      ]", "[\n          7,\n      ]",
           "[\n    7,\n]", {}, "[\n    7,\n]"),
      // containers
      KIND(std::vector<Side>(2, Side::buy), R"(["B", "B"])", R"(["B", "B"])", R"(["B", "B"])"),
      KIND((std::map<Side, Letter>{{Side::buy, Letter('x')}}), R"({"B": "x"})", R"({"B": "x"})", R"({"B": "x"})"),
      KIND((std::set<std::string>{long_text()}), "{" + kQuoted + "}", "{" + kQuoted + "}", "{" + kQuoted + "}"),
      KIND(std::tuple(Side::buy, 1, L"w"), R"(("B", 1, "w"))", R"(("B", 1, "w"))", R"(("B", 1, "w"))"),
      KIND(std::pair(by_value(long_text()), atomic_number.load()), "(" + kQuoted + ", -3)", "(" + kQuoted + ", -3)",
           "(" + kQuoted + ", -3)"),
      KIND((std::array<int, 2>{1, 2}), "[1, 2]", "[1, 2]", "[1, 2]"),
      KIND(bits, "[true, false]", "[true, false]", "[true, false]"),
      KIND(std::deque<std::wstring>(1, L"w"), R"(["w"])", R"(["w"])", R"(["w"])"),
      KIND(lazy(2, [](int i) { return long_text() + std::to_string(i); }),
           "[\"" + long_text() + "0\", \"" + long_text() + "1\"]",
           "[\"" + long_text() + "0\", \"" + long_text() + "1\"]",
           "[\"" + long_text() + "0\", \"" + long_text() + "1\"]"),
      KIND(lazy(2, [](int i) { return i == 0 ? Side::buy : Side::sell; }), R"(["B", "S"])", R"(["B", "S"])",
           R"(["B", "S"])"),
      KIND((std::vector<unsigned char>{10, 255}), "[0a ff]", "[0a ff]", "[0a ff]", json({10, 255})),
      KIND(by_value(std::vector<std::byte>(1, std::byte(7))), "[07]", "[07]", "[07]", json({7})),
      // objects
      KIND((Order{Side::buy, Side::sell}),
           "Order { side: \"B\", other: \"S\", name(): \"a name that is long enough to be on the heap\" }",
           "Order { side: \"B\", other: \"S\", name(): \"a name that is long enough to be on the heap\" }",
           "Order { side: \"B\", other: \"S\", name(): \"a name that is long enough to be on the heap\" }"),
      KIND(Point(), "at 1", "at 1", "at 1"),
      KIND(std::optional(Point()), "at 1", "at 1", "at 1"),
      KIND(by_value(Point()), "at 1", "at 1", "at 1"),
      KIND(std::vector<Point>(2), "[at 1, at 1]", "[at 1, at 1]", "[at 1, at 1]"),
      KIND(Angle(), "90", "90", "90"),
      KIND(Streamed::x, "streamed x", "streamed x", "streamed x"),
      KIND(bit_set, "0010", "0010", "0010"),
      KIND(Throws(), "<unprintable>", "<unprintable>", "<unprintable>"),
      KIND(std::runtime_error(long_text()), long_text(), long_text(), long_text()),
      KIND(by_value(std::runtime_error(long_text())), long_text(), long_text(), long_text()),
      KIND(std::make_error_code(std::errc::timed_out), "Connection timed out", "Connection timed out",
           "Connection timed out"),
      KIND(std::make_exception_ptr(std::out_of_range("too far")), "too far", "too far", "too far"),
      KIND(reinterpret_cast<int*>(0x1f40), "0x1f40", "0x1f40", "0x1f40"),
      // absent
      KIND(nullptr, "", "", {}),
      KIND(std::optional<int>(), "", "", {}),
      KIND(std::unique_ptr<int>(), "", "", {}),
      KIND((ByValue<std::string>{{}, false}), "", "", {}),
      KIND(static_cast<char const*>(nullptr), "", "", {}),
      KIND(static_cast<char8_t const*>(nullptr), "", "", {}),
      KIND(static_cast<wchar_t const*>(nullptr), "", "", {}),
      KIND(tracing::empty, "", "", {}),
  };
  return all;
}

// ---- the outputs ----

constexpr tracing::FormatKind kFormats[] = {tracing::FormatKind::full, tracing::FormatKind::compact,
                                            tracing::FormatKind::pretty, tracing::FormatKind::json};
constexpr char const* kFormatNames[] = {"full", "compact", "pretty", "json"};

class Values : public testing::Test {
 protected:
  // Makes the text in each format for each kind, and a recording of all.
  static void SetUpTestSuite() {
    folder_ = new tracing_test::TemporaryFolder;
    std::string lines[std::size(kFormats)];
    tracing::RegistryBuilder builder;
    builder.with(tracing::record_layer({.path = *folder_ / "all.rec", .limit_bytes = 1 << 20}).first);
    for (std::size_t i = 0; i < std::size(kFormats); ++i) {
      auto sink = tracing::make_sink([&to = lines[i]](tracing::Level, std::string_view line) { to += line; });
      builder.with(tracing::print_layer({.format = {.kind = kFormats[i], .value_sanitization = true, .timer = nullptr},
                                         .writer = tracing::to_sink(std::move(sink))}));
    }
    with_default(std::move(builder).build(), [&] {
      for (Kind const& kind : kinds()) {
        kind.emit();
        for (std::size_t i = 0; i < std::size(kFormats); ++i) texts_[i].push_back(std::exchange(lines[i], {}));
      }
    });
  }
  static void TearDownTestSuite() { delete folder_; }

  static inline tracing_test::TemporaryFolder* folder_ = nullptr;
  static inline std::vector<std::string> texts_[std::size(kFormats)];
};

TEST_F(Values, AreTheSameInAllFormats) {
  for (std::size_t i = 0; i < kinds().size(); ++i) {
    Kind const& kind = kinds()[i];
    SCOPED_TRACE(kind.name);
    std::string const message = "m " + kind.message + " end";
    std::string const field = kind.text.empty() ? "" : " v=" + kind.text;
    std::string const span = kind.text.empty() ? "s" : "s{v=" + kind.text + "}";
    EXPECT_EQ(texts_[0][i], " INFO " + span + ": values_test: " + message + field + "\n");
    EXPECT_EQ(texts_[1][i], " INFO s: values_test: " + message + field + field + "\n");
    if (kind.text.empty()) {
      EXPECT_THAT(texts_[2][i], Not(HasSubstr("v: ")));
    } else {
      EXPECT_THAT(texts_[2][i], HasSubstr(message + ", v: " + kind.text + "\n"));
      EXPECT_THAT(texts_[2][i], HasSubstr("values_test::s with v: " + kind.text + "\n"));
    }
    json const line = json::parse(texts_[3][i]);
    json const of_event = line["fields"].value("v", json());
    EXPECT_EQ(of_event.dump(), kind.of_event.dump());
    EXPECT_EQ(line["span"].value("v", json()).dump(), (kind.of_span.is_null() ? kind.of_event : kind.of_span).dump());
    EXPECT_EQ(line["fields"]["message"], std::regex_replace(message, std::regex("\n      "), "\n"));
  }
}

TEST_F(Values, AreTheSameInARecording) {
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    auto const shown =
        testlog::testdata::run({TESTLOG_COMMAND, "show", *folder_ / "all.rec", "--filter=trace", "--time=none",
                                "--report=lines", std::string("--format=") + kFormatNames[i]});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    std::string const out = std::regex_replace(shown.out, std::regex(",\"thread\":\"main\""), "");
    std::string_view left = out;
    for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
      std::string const& live = texts_[i][kind];
      ASSERT_EQ(left.substr(0, live.size()), live) << kFormatNames[i] << " of " << kinds()[kind].name;
      left.remove_prefix(live.size());
    }
    EXPECT_EQ(left, "");
  }
}

TEST_F(Values, AreTheSameForMatchers) {
  for (Kind const& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    kind.emit();
    auto const records = testlog::records();
    ASSERT_GE(records.size(), 2u);
    testlog::Record const& event = records.back();
    testlog::Record const& span = records[records.size() - 2];
    EXPECT_THAT(event, testlog::Event(testlog::HasMessage(
                           "m " + std::regex_replace(kind.message, std::regex("\n      "), "\n") + " end")));
    if (kind.text.empty()) {
      EXPECT_THAT(event, Not(testlog::HasField("v")));
      EXPECT_THAT(span, testlog::Span("s", Not(testlog::HasField("v"))));
      continue;
    }
    testlog::FieldValue const value = kind.matched.value_or(testlog::FieldValue(kind.message));
    EXPECT_THAT(event, testlog::HasField("v", value));
    EXPECT_THAT(span, testlog::Span("s", testlog::HasField("v", value)));
    EXPECT_THAT(event, testlog::InSpan("s", testlog::HasField("v", value)));
  }
}

// A filter has the value as it stands in a line; in quotes if it is a text that looks like a number.
TEST_F(Values, AreTheSameForFilters) {
  std::regex const number("-?[0-9.]+");
  for (Kind const& kind : kinds()) {
    if (kind.text.empty() || kind.text.find('\n') != kind.text.npos) continue;
    bool const looks_like_number = !kind.of_event.is_number() && std::regex_match(kind.text, number);
    std::string const directive = "[s{v=" + (looks_like_number ? '"' + kind.text + '"' : kind.text) + "}]=info";
    int events = 0;
    auto sink = tracing::make_sink([&](tracing::Level, std::string_view) { ++events; });
    with_default(tracing::RegistryBuilder()
                     .with(tracing::print_layer({.writer = tracing::to_sink(std::move(sink))}),
                           tracing::to_filter(tracing::EnvFilter::parse_lossy(directive)))
                     .build(),
                 kind.emit);
    EXPECT_EQ(events, 1) << kind.name << " by " << directive;
  }
}

}  // namespace values_test
