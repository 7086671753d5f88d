#include "tracing_core/model/value_of.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bitset>
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

#include "tests/support/lazy.h"
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
using tracing_test::lazy;

// The kind of a recorded value, its text after `name=`, and its text in a message.
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
  tracing::internal::Held<T> const held(x);
  tracing::Value const value = held.value();
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

// Types that could print as text, bytes, a list, a tuple or an optional, but have a printed form of their own.
struct Slice {  // LevelDB's
  char const* begin() const { return data(); }
  char const* end() const { return data() + size(); }
  char const* data() const { return "foo"; }
  std::size_t size() const { return 3; }
  friend std::ostream& operator<<(std::ostream& os, Slice const& x) {
    return os << std::string_view(x.data(), x.size());
  }
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
  EXPECT_EQ(printed(Throws()), same(ValueKind::custom, "<unprintable>"));
  EXPECT_EQ(printed(std::vector<Throws>(2)), same(ValueKind::custom, "[<unprintable>, <unprintable>]"));
  auto const view = lazy(3, [](int i) { return i == 1 ? throw std::out_of_range("one") : i + 25; });
  EXPECT_EQ(printed(view), same(ValueKind::custom, "[25, <unprintable>]"));
  EXPECT_EQ(printed(std::pair(view, 1)), same(ValueKind::custom, "([25, <unprintable>], 1)"));
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
  auto const over_lines = tracing::pretty(five);
  EXPECT_TRUE(value_of(over_lines).is_pretty());
  EXPECT_EQ(printed(tracing::pretty(five)), same(ValueKind::custom, "Described {\n    n: 5,\n    name: \"five\",\n}"));
  EXPECT_EQ(printed(tracing::pretty(std::vector<int>{1, 2})), same(ValueKind::custom, "[\n    1,\n    2,\n]"));
}

// ---- values of something that is made when they are recorded ----

enum class Side : char { buy = 'B', sell = 'S' };
enum OldSide : char { kOldBuy = 'b' };
enum OldByte : std::uint8_t { kOldByte = 66 };
enum OldStreamedByte : std::uint8_t { kOldStreamedByte = 66 };
std::ostream& operator<<(std::ostream& os, OldStreamedByte) { return os << "streamed byte"; }
enum class Opcode : char { known = 'k' };
TRACE_ENUM(Opcode, known)
enum class Code : char16_t { a = 'a' };
struct Order {
  Side side;
  std::optional<Side> other;
};
TRACE_FIELDS(Order, side, other)

TEST(ValueOf, PrintsEnumeratorsOfCharAsCharacters) {
  EXPECT_EQ(printed(Side::buy), text("B"));
  EXPECT_EQ(printed(kOldBuy), text("b"));
  EXPECT_EQ(printed(kOldByte), same(ValueKind::u64, "66"));
  EXPECT_EQ(printed(kOldStreamedByte), same(ValueKind::custom, "streamed byte"));
  EXPECT_EQ(printed(Opcode::known), same(ValueKind::verbatim, "known"));
  EXPECT_EQ(printed(Opcode('x')), text("x"));
  EXPECT_EQ(printed(std::optional(Side::sell)), text("S"));
  EXPECT_EQ(printed(std::vector{Side::buy, Side::sell}).debug, "[\"B\", \"S\"]");
  EXPECT_EQ(printed(std::map<Side, int>{{Side::buy, 1}}).debug, "{\"B\": 1}");
  EXPECT_EQ(printed(std::tuple(Side::buy, Opcode('x'), 1)).debug, "(\"B\", \"x\", 1)");
  EXPECT_EQ(printed(Order{Side::buy, Side::sell}).debug, "Order { side: \"B\", other: \"S\" }");
  EXPECT_EQ(printed(tracing::display(Side::buy)), same(ValueKind::custom, "B"));
  EXPECT_EQ(printed(Code::a), same(ValueKind::u64, "97"));
}

// Like boost::optional, but makes the object that it refers to each time.
template <class T>
struct ByValue {
  T content;
  bool has = true;
  bool has_value() const { return has; }
  T operator*() const { return content; }
};
std::string const long_text = "a text that is long enough to be on the heap";

TEST(ValueOf, KeepsWhatAnOptionalReturnsByValue) {
  EXPECT_EQ(printed(ByValue<std::string>{long_text}), text(long_text));
  EXPECT_EQ(printed(ByValue<std::string>{long_text, false}), absent);
  EXPECT_EQ(printed(ByValue<ByValue<std::string>>{{long_text}}), text(long_text));
  EXPECT_EQ(printed(ByValue<std::optional<std::string>>{long_text}), text(long_text));
  EXPECT_EQ(printed(std::optional(ByValue<std::string>{long_text})), text(long_text));
  EXPECT_EQ(printed(ByValue<std::vector<std::string>>{{long_text}}).debug, "[\"" + long_text + "\"]");
  EXPECT_EQ(printed(ByValue<Described>{{}}).debug, "Described { n: 5, name: \"five\" }");
  EXPECT_EQ(printed(ByValue<std::vector<unsigned char>>{{1, 2}}), same(ValueKind::bytes, "[01 02]"));
  EXPECT_EQ(printed(ByValue<std::runtime_error>{std::runtime_error(long_text)}), same(ValueKind::error, long_text));
  EXPECT_EQ(printed(ByValue<Side>{Side::buy}), text("B"));
  EXPECT_EQ(printed(ByValue<int>{7}), same(ValueKind::i64, "7"));
  EXPECT_EQ(printed(std::vector(2, ByValue<std::string>{"x"})).debug, "[\"x\", \"x\"]");
  EXPECT_EQ(printed(tracing::display(ByValue<std::string>{long_text})), same(ValueKind::custom, long_text));
}

TEST(ValueOf, PrintsElementsThatAreReturnedByValue) {
  auto const names = lazy(2, [](int i) { return long_text + std::to_string(i); });
  EXPECT_EQ(printed(names).debug, "[\"" + long_text + "0\", \"" + long_text + "1\"]");
  auto const sides = lazy(2, [](int i) { return i == 0 ? Side::buy : Side::sell; });
  EXPECT_EQ(printed(sides).debug, "[\"B\", \"S\"]");
}

TEST(ValueOf, ReadsAtomicVariables) {
  EXPECT_EQ(printed(std::atomic<bool>(true)), same(ValueKind::boolean, "true"));
  EXPECT_EQ(printed(std::atomic<int>(-3)), same(ValueKind::i64, "-3"));
  EXPECT_EQ(printed(std::atomic<double>(2)), (Printed{ValueKind::f64, "2.0", "2"}));
  EXPECT_EQ(printed(std::atomic<char>('c')), text("c"));
  EXPECT_EQ(printed(std::atomic<Side>(Side::buy)), text("B"));
  EXPECT_EQ(printed(std::atomic<char const*>("pointer")), text("pointer"));
  int number = 4;
  EXPECT_EQ(printed(std::atomic_ref<int>(number)), same(ValueKind::i64, "4"));
  std::array<std::atomic<int>, 2> const several{1, 2};
  EXPECT_EQ(printed(several).debug, "[1, 2]");
}

TEST(ValueOf, PrintsBitsAsBooleans) {
  std::vector<bool> bits{true, false};
  EXPECT_EQ(printed(bits[0]), same(ValueKind::boolean, "true"));
  EXPECT_EQ(printed(bits[1]), same(ValueKind::boolean, "false"));
  std::bitset<4> set(2);
  EXPECT_EQ(printed(set[1]), same(ValueKind::boolean, "true"));
  EXPECT_EQ(printed(set), same(ValueKind::custom, "0010"));
  EXPECT_EQ(printed(std::true_type()), same(ValueKind::boolean, "true"));
  EXPECT_EQ(printed(std::integral_constant<int, 5>()), same(ValueKind::custom, "5"));
}

TEST(ValueOf, ConvertsUtf8AndWideText) {
  EXPECT_EQ(printed(u8"\u00e9\0 and no further"), text("\u00e9"));
  EXPECT_EQ(printed(std::u8string(u8"\u20ac")), text("\u20ac"));
  EXPECT_EQ(printed(std::u8string_view(u8"abc")), text("abc"));
  char8_t const* utf8 = u8"pointer";
  EXPECT_EQ(printed(utf8), text("pointer"));
  EXPECT_EQ(printed(static_cast<char8_t const*>(nullptr)), absent);
  EXPECT_EQ(printed(u8'a'), text("a"));
  EXPECT_EQ(printed(std::filesystem::path("/a b").u8string()), text("/a b"));

  EXPECT_EQ(printed(L"wide \u00e9\0 and no further"), text("wide \u00e9"));
  EXPECT_EQ(printed(u"16 \u20ac \U0001f600"), text("16 \u20ac \U0001f600"));
  EXPECT_EQ(printed(U"32 \U0001f600"), text("32 \U0001f600"));
  EXPECT_EQ(printed(std::wstring(100, L'x')), text(std::string(100, 'x')));
  EXPECT_EQ(printed(std::u16string_view(u"view")), text("view"));
  EXPECT_EQ(printed(std::u32string(U"string")), text("string"));
  wchar_t const* wide = L"pointer";
  EXPECT_EQ(printed(wide), text("pointer"));
  EXPECT_EQ(printed(static_cast<wchar_t const*>(nullptr)), absent);
  char16_t const unterminated[] = {'a', 'b'};
  EXPECT_EQ(printed(unterminated), text("ab"));
  EXPECT_EQ(printed(L'\u00e9'), text("\u00e9"));
  EXPECT_EQ(printed(U'\U0001f600'), text("\U0001f600"));
  char16_t const halves[] = {0xd83d, 'a', 0xde00};
  EXPECT_EQ(printed(halves), text("\ufffda\ufffd"));
  EXPECT_EQ(printed(static_cast<char32_t>(0x110000)), text("\ufffd"));
  EXPECT_EQ(printed(std::vector<std::wstring>{L"a", L"b"}).debug, "[\"a\", \"b\"]");
  EXPECT_EQ(printed(std::optional<std::u16string>(u"a")), text("a"));
  EXPECT_EQ(printed(tracing::display(u8"a")), same(ValueKind::verbatim, "a"));
  EXPECT_EQ(printed(tracing::display(L"a")), same(ValueKind::custom, "a"));
}

TEST(ValueOf, KeepsATemporaryThatIsWrapped) {
  auto const wrapped = tracing::debug(std::string(long_text));
  EXPECT_EQ(printed(wrapped).debug, "\"" + long_text + "\"");
  auto const shown = tracing::display(std::string(long_text));
  EXPECT_EQ(printed(shown), same(ValueKind::verbatim, long_text));
}

// An argument whose value would refer to a temporary does not compile.
template <class T>
concept HasValueOf = requires(T&& x) {
  value_of(std::forward<T>(x));
};
template <class T>
concept HasTextOf = requires(T&& x) {
  tracing::Value::of_text(std::forward<T>(x));
};
template <class T>
concept HasErrorOf = requires(T&& x) {
  tracing::Value::of_error(std::forward<T>(x));
};
template <class T>
concept GivesValue = requires(T&& x) {
  std::forward<T>(x).value();
};
template <class T>
using Held = tracing::internal::Held<T>;
static_assert(HasValueOf<std::string const&> && !HasValueOf<std::string> && !HasValueOf<char> && !HasValueOf<int>);
static_assert(!HasValueOf<ByValue<std::string>&> && !HasValueOf<std::wstring&> && !HasValueOf<std::atomic<int>&>);
static_assert(HasTextOf<std::string&> && HasTextOf<std::string_view> && HasTextOf<char const (&)[2]>);
static_assert(!HasTextOf<std::string> && !HasTextOf<std::string const>);
static_assert(HasErrorOf<std::runtime_error&> && !HasErrorOf<std::runtime_error> && !HasErrorOf<std::error_code>);
static_assert(GivesValue<Held<std::string>&> && !GivesValue<Held<std::string>> && !GivesValue<Held<std::wstring>>);
static_assert(!GivesValue<Held<ByValue<std::string>>> && !GivesValue<Held<std::atomic<int>>>);
static_assert(!std::is_constructible_v<Held<std::string>, std::string>);

// ---- arrays whose size is not known ----

extern char const version[];
char const version[] = "1.2\0 and no further";
extern char8_t const utf8_version[];
char8_t const utf8_version[] = u8"1.3";
extern wchar_t const wide_version[];
wchar_t const wide_version[] = L"1.4";

TEST(ValueOf, ReadsTextOfUnknownSizeToItsEnd) {
  EXPECT_EQ(printed(version), text("1.2"));
  EXPECT_EQ(printed(utf8_version), text("1.3"));
  EXPECT_EQ(printed(wide_version), text("1.4"));
}

template <class T>
constexpr bool recordable = tracing::internal::Recordable<T>;
struct Nothing {};
struct Incomplete;
static_assert(!recordable<Nothing> && !recordable<Incomplete> && recordable<Incomplete*>);
static_assert(!recordable<int[]> && recordable<int[2]> && !recordable<Nothing[2]> && recordable<int(int)>);
static_assert(recordable<int volatile> && recordable<std::atomic<int> volatile> && !recordable<Described volatile> &&
              !recordable<int volatile[2]>);
static_assert(!recordable<tracing::internal::Wrapped<Nothing const&, tracing::internal::PrintAs::debug>>);
static_assert(recordable<std::vector<int>> && recordable<Described> && recordable<Plain> &&
              recordable<std::exception_ptr>);

}  // namespace value_of_test
