// Declares records(), what the running test recorded so far, as values that tests can look at.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/level.h"

namespace testlog::inline v1 {

/// A recorded value. Compares with numbers, booleans and text as one would write them; what is neither compares as the text
/// that it prints.
class FieldValue {
 public:
  FieldValue() = default;
  FieldValue(bool x) : typed_(x), text_(x ? "true" : "false") {}
  /// A text of one character, as it is recorded.
  FieldValue(char x) : FieldValue(std::string_view(&x, 1)) {}
  template <std::integral T>
  FieldValue(T x) : text_(std::to_string(x)) {
    if constexpr (std::unsigned_integral<T>) {
      typed_ = static_cast<std::uint64_t>(x);
    } else {
      typed_ = static_cast<std::int64_t>(x);
    }
  }
  template <std::floating_point T>
  FieldValue(T x) : typed_(static_cast<double>(x)), text_(std::to_string(x)) {}
  FieldValue(std::string_view x) : typed_(std::string(x)), text_(x) {}
  FieldValue(std::string const& x) : FieldValue(std::string_view(x)) {}
  FieldValue(char const* x) : FieldValue(std::string_view(x)) {}
  /// A value of another kind, by the text that it prints.
  static FieldValue printed(std::string text);
  /// A number and the text that it prints.
  static FieldValue number(double x, std::string text);

  /// Whether it is an integer or a floating-point number.
  bool is_number() const noexcept;
  /// As it prints, text without quotes.
  std::string const& text() const noexcept { return text_; }
  /// text(), for matchers of strings: HasField("name", HasSubstr("doub")).
  explicit operator std::string() const { return text_; }

  friend bool operator==(FieldValue const& a, FieldValue const& b) noexcept;
  /// Numbers by value, whatever their types; text by its bytes; anything else is unordered.
  friend std::partial_ordering operator<=>(FieldValue const& a, FieldValue const& b) noexcept;
  friend std::ostream& operator<<(std::ostream& out, FieldValue const& value);

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string> typed_;
  std::string text_;
};

/// A field of a record or of a span.
struct Field {
  std::string name;
  FieldValue value;
};

/// A span around a record, with the fields that it had then.
struct SpanInfo {
  std::string name;
  std::string target;
  tracing::Level level{};
  std::vector<Field> fields;
};

/// A kept event, or the making of a span.
struct Record {
  bool is_span = false;
  std::string name;     ///< of the span; of an event mostly "event"
  std::string message;  ///< of an event; empty where it has none
  std::string target;
  tracing::Level level{};
  std::vector<Field> fields;    ///< without the message; of a span: those it was made with
  std::vector<SpanInfo> spans;  ///< around it, the outermost first
  std::string file;
  std::uint32_t line = 0;
  std::string thread;  ///< its name; empty where it has none
  std::uint64_t thread_number = 0;
  tracing::Instant time{};

  /// Null where there is none. Of several with this name the last.
  FieldValue const* field(std::string_view field_name) const noexcept;
  /// As the format full prints it, without the time.
  friend std::ostream& operator<<(std::ostream& out, Record const& record);
};

/// The events and new spans that the running test recorded so far, on all its threads, oldest first; outside tests those
/// since the last one ended. What is shown makes no difference. Raises a test failure where they are not all there: nothing
/// is captured (TRACE_CAPTURE=off), or the ring was full; the failure names the caller's place, `file` and `line`. A copy;
/// takes time proportional to what was captured.
std::vector<Record> records(char const* file = __builtin_FILE(), int line = __builtin_LINE());

/// From now on what the calling thread records belongs to whatever test runs, although the thread was started in one: for
/// the threads of pools that tests share.
void serve_all_tests();

/// Changes the directives that decide what is shown, until the running test ends. False, with a message, where one is wrong;
/// the others hold.
bool set_filter(std::string_view directives);

}  // namespace testlog::inline v1
