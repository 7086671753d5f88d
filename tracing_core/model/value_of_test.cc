#include "tracing_core/model/value_of.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/model/describe.h"

namespace value_of_test {
struct Shape;
}
template <>
struct fmt::formatter<value_of_test::Shape> : fmt::formatter<std::string> {
  template <class Context>
  auto format(value_of_test::Shape const& shape, Context& context) const;
};

namespace value_of_test {

using tracing::ValueKind;
using tracing::internal::value_of;

// The kind of a recorded value, and its text after `name=` and in a message.
struct Printed {
  ValueKind kind;
  std::string debug;
  std::string plain;
  friend bool operator==(Printed const&, Printed const&) = default;
  friend std::ostream& operator<<(std::ostream& os, Printed const& x) {
    return os << "kind " << static_cast<int>(x.kind) << ": " << x.debug << " | " << x.plain;
  }
};

template <class T>
Printed printed(T const& x) {
  tracing::Value const value = value_of(x);
  tracing::InlineTextBuffer<256> debug;
  tracing::InlineTextBuffer<256> plain;
  append_debug(debug, value);
  append_formatted(plain, value, {});
  return {value.kind(), std::string(debug.view()), std::string(plain.view())};
}
Printed same(ValueKind kind, std::string const& text) { return {kind, text, text}; }
Printed text(std::string const& x) { return {ValueKind::text, "\"" + x + "\"", x}; }
Printed const absent{ValueKind::empty, "", ""};

TEST(ValueOf, ConvertsNumbersOfEveryWidth) {
  EXPECT_EQ(printed(true), same(ValueKind::boolean, "true"));
  EXPECT_EQ(printed(false), same(ValueKind::boolean, "false"));
  EXPECT_EQ(printed(static_cast<signed char>(-5)), same(ValueKind::i64, "-5"));
  EXPECT_EQ(printed(static_cast<unsigned char>(200)), same(ValueKind::u64, "200"));
  EXPECT_EQ(printed(std::int8_t{-128}), same(ValueKind::i64, "-128"));
  EXPECT_EQ(printed(std::uint8_t{255}), same(ValueKind::u64, "255"));
  EXPECT_EQ(printed(short{-3}), same(ValueKind::i64, "-3"));
  EXPECT_EQ(printed(-7), same(ValueKind::i64, "-7"));
  EXPECT_EQ(printed(7U), same(ValueKind::u64, "7"));
  EXPECT_EQ(printed(-8L), same(ValueKind::i64, "-8"));
  EXPECT_EQ(printed(8ULL), same(ValueKind::u64, "8"));
  EXPECT_EQ(printed(std::numeric_limits<std::int64_t>::min()), same(ValueKind::i64, "-9223372036854775808"));
  EXPECT_EQ(printed(std::numeric_limits<std::uint64_t>::max()), same(ValueKind::u64, "18446744073709551615"));
  EXPECT_EQ(printed(std::byte{10}).debug, "10");
  tracing::Value::Int128 const large = static_cast<tracing::Value::Int128>(-1) << 100;
  EXPECT_EQ(printed(large), same(ValueKind::i128, "-1267650600228229401496703205376"));
  EXPECT_EQ(printed(~tracing::Value::Uint128{0}), same(ValueKind::u128, "340282366920938463463374607431768211455"));
}

TEST(ValueOf, PrintsTheShortestFormOfFloatingPointNumbers) {
  EXPECT_EQ(printed(0.1F), same(ValueKind::f32, "0.1"));
  EXPECT_EQ(printed(0.1), same(ValueKind::f64, "0.1"));
  EXPECT_EQ(printed(static_cast<double>(0.1F)), same(ValueKind::f64, "0.10000000149011612"));
  EXPECT_EQ(printed(2.0), (Printed{ValueKind::f64, "2.0", "2"}));
  EXPECT_EQ(printed(-2.0F), (Printed{ValueKind::f32, "-2.0", "-2"}));
  EXPECT_EQ(printed(1.5L), same(ValueKind::f64, "1.5"));
  EXPECT_EQ(printed(std::numeric_limits<double>::quiet_NaN()).debug, "NaN");
  EXPECT_EQ(printed(-std::numeric_limits<double>::infinity()).debug, "-inf");
}

TEST(ValueOf, ConvertsTextOfEveryType) {
  EXPECT_EQ(printed('c'), text("c"));
  EXPECT_EQ(printed("literal"), text("literal"));
  EXPECT_EQ(printed("up to the first zero\0 and no further"), text("up to the first zero"));
  char const unterminated[] = {'a', 'b'};
  EXPECT_EQ(printed(unterminated), text("ab"));
  char const* const pointer = "pointer";
  EXPECT_EQ(printed(pointer), text("pointer"));
  char buffer[16] = "buffer";
  EXPECT_EQ(printed(buffer), text("buffer"));
  EXPECT_EQ(printed(std::string("string")), text("string"));
  EXPECT_EQ(printed(std::string_view("view")), text("view"));
  EXPECT_EQ(printed(std::string("a \"quote\"\n")),
            (Printed{ValueKind::text, "\"a \\\"quote\\\"\\n\"", "a \"quote\"\n"}));
  EXPECT_EQ(printed(std::string()), text(""));
}

TEST(ValueOf, IsEmptyForAbsentValues) {
  EXPECT_EQ(printed(nullptr), absent);
  EXPECT_EQ(printed(static_cast<char const*>(nullptr)), absent);
  EXPECT_EQ(printed(std::optional<int>()), absent);
  EXPECT_EQ(printed(std::unique_ptr<int>()), absent);
  EXPECT_EQ(printed(std::shared_ptr<int>()), absent);
  EXPECT_EQ(printed(tracing::empty), absent);
  EXPECT_EQ(printed(tracing::Value()), absent);
  EXPECT_EQ(printed(std::optional(3)), same(ValueKind::i64, "3"));
  EXPECT_EQ(printed(std::optional<std::string>("x")), text("x"));
  EXPECT_EQ(printed(std::optional(std::optional<int>())), absent);
}

int function(int x) { return x; }

TEST(ValueOf, PrintsPointersAsHexadecimal) {
  auto* const pointer = reinterpret_cast<int*>(0x1f40);
  EXPECT_EQ(printed(pointer), same(ValueKind::pointer, "0x1f40"));
  EXPECT_EQ(printed(static_cast<void const*>(pointer)), same(ValueKind::pointer, "0x1f40"));
  EXPECT_EQ(printed(const_cast<int volatile*>(pointer)), same(ValueKind::pointer, "0x1f40"));
  EXPECT_EQ(printed(static_cast<void*>(nullptr)), same(ValueKind::pointer, "0x0"));
  EXPECT_EQ(printed(&function).kind, ValueKind::pointer);
  EXPECT_EQ(printed(&function), printed(reinterpret_cast<void const*>(&function)));
  auto const owned = std::make_shared<int>(1);
  EXPECT_EQ(printed(owned), printed(owned.get()));
  unsigned char const* const bytes = nullptr;
  EXPECT_EQ(printed(bytes), same(ValueKind::pointer, "0x0"));
}

TEST(ValueOf, ConvertsBytes) {
  std::array<std::byte, 2> const bytes{std::byte{0x0a}, std::byte{0xff}};
  EXPECT_EQ(printed(bytes), same(ValueKind::bytes, "[0a ff]"));
  EXPECT_EQ(printed(std::span(bytes)), same(ValueKind::bytes, "[0a ff]"));
  EXPECT_EQ(printed(std::vector<unsigned char>{1, 2}), same(ValueKind::bytes, "[01 02]"));
  EXPECT_EQ(printed(std::vector<std::byte>()), same(ValueKind::bytes, "[]"));
}

TEST(ValueOf, ConvertsErrorsWithTheirCauses) {
  EXPECT_EQ(printed(std::runtime_error("it broke")), same(ValueKind::error, "it broke"));
  EXPECT_EQ(printed(std::make_error_code(std::errc::timed_out)), same(ValueKind::error, "Connection timed out"));
  EXPECT_EQ(printed(std::make_exception_ptr(std::out_of_range("too far"))), same(ValueKind::error, "too far"));
  EXPECT_EQ(printed(std::make_exception_ptr(3)).kind, ValueKind::error);
  EXPECT_EQ(printed(std::exception_ptr()), absent);
  try {
    try {
      throw std::runtime_error("cause");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("effect"));
    }
  } catch (std::exception const& e) {
    std::vector<std::string> texts;
    tracing::Value const value = value_of(e);
    value.error_type().visit(value.as_pointer(), &texts, [](void* to, std::string_view line) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(line);
    });
    EXPECT_EQ(texts, (std::vector<std::string>{"effect", "cause"}));
  }
}

enum class Plain : std::uint8_t { a, b };
enum Old { kOld = 3 };
enum class Named { checked, unchecked, forgotten };
TRACE_ENUM(Named, checked, unchecked)
enum class Streamed { x };
std::ostream& operator<<(std::ostream& os, Streamed) { return os << "streamed x"; }
enum class Formatted { y };
enum OldStreamed { kOldStreamed = 4 };
std::ostream& operator<<(std::ostream& os, OldStreamed) { return os << "old streamed"; }

}  // namespace value_of_test

template <>
struct fmt::formatter<value_of_test::Formatted> : fmt::formatter<std::string_view> {
  auto format(value_of_test::Formatted, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format("formatted y", context);
  }
};

namespace value_of_test {

TEST(ValueOf, PrintsEnumeratorsByNameIfKnown) {
  EXPECT_EQ(printed(Plain::b), same(ValueKind::u64, "1"));
  EXPECT_EQ(printed(kOld), same(ValueKind::u64, "3"));
  EXPECT_EQ(printed(Named::unchecked), same(ValueKind::verbatim, "unchecked"));
  EXPECT_EQ(printed(Named::forgotten), same(ValueKind::i64, "2"));
  EXPECT_EQ(printed(Streamed::x), same(ValueKind::custom, "streamed x"));
  EXPECT_EQ(printed(Formatted::y), same(ValueKind::custom, "formatted y"));
  EXPECT_EQ(printed(kOldStreamed), same(ValueKind::custom, "old streamed"));
}

struct WithStream {
  int n = 3;
  friend std::ostream& operator<<(std::ostream& os, WithStream const& x) { return os << "n is " << x.n; }
};
struct WithFormatter {
  int n = 4;
};
struct Described {
  int n = 5;
  std::string name = "five";
};
TRACE_FIELDS(Described, n, name)

}  // namespace value_of_test

template <>
struct fmt::formatter<value_of_test::WithFormatter> : fmt::formatter<int> {
  auto format(value_of_test::WithFormatter const& x, fmt::format_context& context) const {
    return fmt::formatter<int>::format(x.n, context);
  }
};

namespace value_of_test {

TEST(ValueOf, PrintsByFmtOrStreamOrTraceFields) {
  EXPECT_EQ(printed(WithStream()), same(ValueKind::custom, "n is 3"));
  EXPECT_EQ(printed(WithFormatter()), same(ValueKind::custom, "4"));
  EXPECT_EQ(printed(Described()), same(ValueKind::custom, "Described { n: 5, name: \"five\" }"));
  tracing::InlineTextBuffer<64> out;
  WithFormatter const four;
  append_formatted(out, value_of(four), "04x");
  EXPECT_EQ(out.view(), "0004");
}

struct Throws {
  friend std::ostream& operator<<(std::ostream&, Throws const&) { throw std::runtime_error("while printing"); }
};

// Types that could print as text, bytes, a list, a tuple or an optional, and have a printed form of their own.
struct Slice {  // LevelDB's
  char const* begin() const { return data(); }
  char const* end() const { return data() + size(); }
  char const* data() const { return "foo"; }
  std::size_t size() const { return 3; }
  friend std::ostream& operator<<(std::ostream& os, Slice const& x) { return os << std::string_view(x.data(), x.size()); }
};
struct Shape : std::vector<int> {
  using std::vector<int>::vector;
};
struct Digest {
  unsigned char const* data() const { return reinterpret_cast<unsigned char const*>("\x01\x02"); }
  std::size_t size() const { return 2; }
  friend std::ostream& operator<<(std::ostream& os, Digest const&) { return os << "sha:0102"; }
};
struct Path {  // boost::filesystem's: its elements are paths
  Path const* begin() const { return this; }
  Path const* end() const { return this + 1; }
  friend std::ostream& operator<<(std::ostream& os, Path const&) { return os << "/usr/lib"; }
};
struct Odd;
struct Even {
  Odd const* begin() const { return nullptr; }
  Odd const* end() const { return nullptr; }
  friend std::ostream& operator<<(std::ostream& os, Even const&) { return os << "even"; }
};
struct Odd {
  Even const* begin() const { return nullptr; }
  Even const* end() const { return nullptr; }
};
struct Name {
  operator std::string_view() const { return "secret"; }
  friend std::ostream& operator<<(std::ostream& os, Name const&) { return os << "a name"; }
};
struct Text {
  operator std::string_view() const { return "text"; }
};
struct Result {
  bool has_value() const { return true; }
  int operator*() const { return 1; }
  friend std::ostream& operator<<(std::ostream& os, Result const&) { return os << "OK"; }
};
struct Flags {  // can be streamed, as a bool
  int const* begin() const { return bits; }
  int const* end() const { return bits + 2; }
  operator bool() const { return true; }
  int bits[2] = {1, 0};
};
struct Handle {  // converts to bool and to a text, but prints itself
  int const* begin() const { return nullptr; }
  int const* end() const { return nullptr; }
  operator bool() const { return true; }
  operator char const*() const { return "converted"; }
  friend std::ostream& operator<<(std::ostream& os, Handle const&) { return os << "handle 7"; }
};
struct Address {  // can be streamed, as a text
  operator char const*() const { return "converted"; }
};
struct Both : Slice {};
void tracing_write_fields(tracing::DebugWriter& writer, Both const&) {
  writer.begin_struct("Both");
  writer.end();
}

}  // namespace value_of_test

template <class Context>
auto fmt::formatter<value_of_test::Shape>::format(value_of_test::Shape const& shape, Context& context) const {
  return fmt::formatter<std::string>::format(std::to_string(shape[0]) + "x" + std::to_string(shape[1]), context);
}

namespace value_of_test {

TEST(ValueOf, PrefersATypesOwnPrintedForm) {
  EXPECT_EQ(printed(Slice()), same(ValueKind::custom, "foo"));
  EXPECT_EQ(printed(Shape{2, 3}), same(ValueKind::custom, "2x3"));
  EXPECT_EQ(printed(Digest()), same(ValueKind::custom, "sha:0102"));
  EXPECT_EQ(printed(Path()), same(ValueKind::custom, "/usr/lib"));
  EXPECT_EQ(printed(Even()), same(ValueKind::custom, "even"));
  EXPECT_EQ(printed(Odd()), same(ValueKind::custom, "[]"));
  EXPECT_EQ(printed(Name()), same(ValueKind::custom, "a name"));
  EXPECT_EQ(printed(Result()), same(ValueKind::custom, "OK"));
  EXPECT_EQ(printed(Handle()), same(ValueKind::custom, "handle 7"));
  EXPECT_EQ(printed(Both()), same(ValueKind::custom, "Both"));
  EXPECT_EQ(printed(std::vector<Slice>(2)), same(ValueKind::custom, "[foo, foo]"));
  EXPECT_EQ(printed(tracing::display(Slice())).plain, "foo");
  EXPECT_EQ(printed(tracing::display(Name())).plain, "a name");
  EXPECT_EQ(printed(tracing::debug(Slice())).debug, "foo");
}

TEST(ValueOf, PrintsOtherTextsAndContainersByTheirContents) {
  EXPECT_EQ(printed(Text()), text("text"));
  EXPECT_EQ(printed(Address()), same(ValueKind::custom, "converted"));
  EXPECT_EQ(printed(Flags()), same(ValueKind::custom, "[1, 0]"));
}

TEST(ValueOf, CatchesExceptionsWhilePrinting) {
  EXPECT_EQ(printed(Throws()).kind, ValueKind::custom);
  EXPECT_EQ(printed(std::vector<Throws>(2)).debug.front(), '[');
}

TEST(ValueOf, ConvertsContainers) {
  EXPECT_EQ(printed(std::vector<int>{1, 2}), same(ValueKind::custom, "[1, 2]"));
  EXPECT_EQ(printed(std::vector<bool>{true, false}), same(ValueKind::custom, "[true, false]"));
  EXPECT_EQ(printed(std::list<char>{'a'}), same(ValueKind::custom, "[\"a\"]"));
  EXPECT_EQ(printed(std::deque<double>()), same(ValueKind::custom, "[]"));
  EXPECT_EQ(printed(std::array<std::string, 2>{"a", "b"}), same(ValueKind::custom, "[\"a\", \"b\"]"));
  int const array[] = {1, 2, 3};
  EXPECT_EQ(printed(array), same(ValueKind::custom, "[1, 2, 3]"));
  int const matrix[2][2] = {{1, 2}, {3, 4}};
  EXPECT_EQ(printed(matrix), same(ValueKind::custom, "[[1, 2], [3, 4]]"));
  EXPECT_EQ(printed(std::span(array)), same(ValueKind::custom, "[1, 2, 3]"));
  EXPECT_EQ(printed(std::set<int>{2, 1}), same(ValueKind::custom, "{1, 2}"));
  EXPECT_EQ(printed(std::map<std::string, int>{{"a", 1}, {"b", 2}}), same(ValueKind::custom, "{\"a\": 1, \"b\": 2}"));
  EXPECT_EQ(printed(std::unordered_map<int, int>{{1, 2}}), same(ValueKind::custom, "{1: 2}"));
  EXPECT_EQ(printed(std::pair(1, 'x')), same(ValueKind::custom, "(1, \"x\")"));
  EXPECT_EQ(printed(std::tuple(1, 2.5, "t")), same(ValueKind::custom, "(1, 2.5, \"t\")"));
  EXPECT_EQ(printed(std::tuple<>()), same(ValueKind::custom, "()"));
  EXPECT_EQ(printed(std::vector<std::optional<Described>>(1, Described())),
            same(ValueKind::custom, "[Described { n: 5, name: \"five\" }]"));
  EXPECT_EQ(printed(std::vector<Named>{Named::checked}), same(ValueKind::custom, "[checked]"));
}

TEST(ValueOf, ConvertsAPathToText) { EXPECT_EQ(printed(std::filesystem::path("/a b")).debug, "\"/a b\""); }

TEST(ValueOf, PrintsByDisplayDebugAndPretty) {
  EXPECT_EQ(printed(tracing::display("text")), same(ValueKind::verbatim, "text"));
  EXPECT_EQ(printed(tracing::display(std::string("s"))), same(ValueKind::verbatim, "s"));
  EXPECT_EQ(printed(tracing::display(static_cast<char const*>(nullptr))), absent);
  EXPECT_EQ(printed(tracing::display(3)), same(ValueKind::custom, "3"));
  EXPECT_EQ(printed(tracing::display(2.0)), same(ValueKind::custom, "2"));
  EXPECT_EQ(printed(tracing::display(Described())).debug, "Described { n: 5, name: \"five\" }");
  EXPECT_EQ(printed(tracing::debug("text")), same(ValueKind::custom, "\"text\""));
  EXPECT_EQ(printed(tracing::debug(2.0)), same(ValueKind::custom, "2.0"));
  EXPECT_EQ(printed(tracing::debug(std::vector<int>{1})), same(ValueKind::custom, "[1]"));
  Described const five;
  EXPECT_TRUE(value_of(tracing::pretty(five)).is_pretty());
  EXPECT_EQ(printed(tracing::pretty(five)), same(ValueKind::custom, "Described {\n    n: 5,\n    name: \"five\",\n}"));
  EXPECT_EQ(printed(tracing::pretty(std::vector<int>{1, 2})), same(ValueKind::custom, "[\n    1,\n    2,\n]"));
}

template <class T>
constexpr bool recordable = tracing::internal::Recordable<T>;
struct Nothing {};
static_assert(!recordable<Nothing>);
static_assert(recordable<std::vector<int>> && recordable<Described> && recordable<Plain> &&
              recordable<std::exception_ptr>);

}  // namespace value_of_test
