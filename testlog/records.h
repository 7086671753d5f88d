// records(): the records of the running test, as values that tests can inspect.
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

namespace testlog { inline namespace v1 {

/// A recorded value. Compares with numbers, booleans and text; a value of another type compares as the text that it
/// prints.
class FieldValue {
 public:
  FieldValue() = default;
  FieldValue(bool x) : typed_(x), text_(x ? "true" : "false") {}
  /// Characters are recorded as text.
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
  /// Makes a value of another type, from the text that it prints.
  static FieldValue printed(std::string text);
  /// Makes a number with the text that it prints.
  static FieldValue number(double x, std::string text);

  /// Returns true for an integer or a floating-point number.
  bool is_number() const noexcept;
  /// Returns the printed value; text has no quotes.
  std::string const& text() const noexcept { return text_; }
  /// text(), for matchers of strings: HasField("name", HasSubstr("doub")).
  explicit operator std::string() const { return text_; }

  friend bool operator==(FieldValue const& a, FieldValue const& b) noexcept;
  /// Numbers compare by value, whatever their types, text by its bytes; values of different kinds are unordered.
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

/// A span around a record, with the fields that it had at that time.
struct SpanInfo {
  std::string name;
  std::string target;
  tracing::v1::Level level{};
  std::vector<Field> fields;
};

/// A captured event or new span.
struct Record {
  bool is_span = false;
  std::string name;     ///< of the span; for events usually "event"
  std::string message;  ///< of an event; may be empty
  std::string target;
  tracing::v1::Level level{};
  std::vector<Field> fields;    ///< without the message; for a span, the fields it was made with
  std::vector<SpanInfo> spans;  ///< the enclosing spans, outermost first
  std::string file;
  std::uint32_t line = 0;
  std::string thread;  ///< its name; may be empty
  std::uint64_t thread_number = 0;
  std::uint64_t number = 0;  ///< grows in the order of capture, also across tests
  tracing::Instant time{};

  /// Returns the last field with this name; null if there is none.
  FieldValue const* field(std::string_view field_name) const noexcept;
  /// Prints the record in the format full, without the time.
  friend std::ostream& operator<<(std::ostream& out, Record const& record);
};

/// A place in the sequence of captured records: see mark().
struct Mark {
  std::uint64_t number = 0;
};

/// Returns the place after all records so far: `auto const before = testlog::mark(); f(); records().since(before)`.
Mark mark() noexcept;

/// Records, oldest first.
class Records : public std::vector<Record> {
 public:
  using std::vector<Record>::vector;

  /// Returns the records after the mark.
  Records since(Mark mark) const;
};

/// Returns the events and new spans of the running test so far, on all its threads, oldest first; outside tests, the
/// records since the last test ended. Raises a test failure at `file` and `line`, the place of the call, if records are
/// missing: nothing is captured (TRACE_CAPTURE=off), or some were overwritten (TRACE_RECORD_LIMIT). Takes time
/// proportional to the number of captured records.
Records records(char const* file = __builtin_FILE(), int line = __builtin_LINE());

/// Assigns further records of the calling thread to whichever test is running: for threads of pools that tests
/// share.
void serve_all_tests();

/// Changes the directives that select what is shown, until the running test ends. Reports wrong directives and then
/// returns false; the others take effect.
bool set_filter(std::string_view directives);

/// Calls set_filter() for a scope: what was shown before is shown again after the scope. Scopes must end in reverse
/// order, on the thread that runs the test.
class [[nodiscard]] ScopedFilter {
 public:
  explicit ScopedFilter(std::string_view directives);
  ScopedFilter(ScopedFilter const&) = delete;
  ScopedFilter& operator=(ScopedFilter const&) = delete;
  ~ScopedFilter();

 private:
  std::string const before_;
};

}}  // namespace testlog::v1
