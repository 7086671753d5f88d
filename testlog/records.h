// records(): the records of the running test, as values that tests can inspect.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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
  FieldValue(std::string_view x) : typed_(Text()), text_(x) {}
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
  struct Text {};
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Text> typed_;
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

namespace internal {

// Records that never move: blocks, each twice as large as the one before. One thread may add a record while others read
// earlier records.
class RecordBlocks {
 public:
  // Returns an empty record to fill in.
  Record& add() {
    std::size_t const block = block_of(size_);
    if (blocks_[block].empty()) blocks_[block].reserve(kFirst << block);
    ++size_;
    return blocks_[block].emplace_back();
  }
  std::size_t size() const noexcept { return size_; }
  Record const& operator[](std::size_t i) const noexcept {
    std::size_t const block = block_of(i);
    return blocks_[block].data()[i + kFirst - (kFirst << block)];
  }

 private:
  static constexpr std::size_t kFirst = 16;
  static std::size_t block_of(std::size_t i) noexcept {
    return static_cast<std::size_t>(std::bit_width(i / kFirst + 1) - 1);
  }

  std::array<std::vector<Record>, 48> blocks_;
  std::size_t size_ = 0;
};

}  // namespace internal

/// Records, oldest first. Never changes; copies share the records, also after the test has ended. Has the members of a
/// constant std::vector<Record>.
class Records {
 public:
  using value_type = Record;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using const_reference = Record const&;
  using reference = const_reference;
  class const_iterator;
  using iterator = const_iterator;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  using reverse_iterator = const_reverse_iterator;

  Records() = default;
  /// The first `size` of `blocks`, to which later records may be added.
  Records(std::shared_ptr<internal::RecordBlocks const> blocks, std::size_t size) noexcept
      : blocks_(std::move(blocks)), end_(size) {}

  std::size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return size() == 0; }
  Record const& operator[](std::size_t i) const noexcept { return (*blocks_)[begin_ + i]; }
  /// Throws std::out_of_range.
  Record const& at(std::size_t i) const {
    if (i >= size()) throw std::out_of_range("testlog::Records::at()");
    return (*this)[i];
  }
  Record const& front() const noexcept { return (*this)[0]; }
  Record const& back() const noexcept { return (*this)[size() - 1]; }
  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;
  const_iterator cbegin() const noexcept;
  const_iterator cend() const noexcept;
  const_reverse_iterator rbegin() const noexcept;
  const_reverse_iterator rend() const noexcept;
  /// Copies the records.
  operator std::vector<Record>() const;

  /// Returns the records after the mark.
  Records since(Mark mark) const;

 private:
  std::shared_ptr<internal::RecordBlocks const> blocks_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Valid as long as its Records.
class Records::const_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Record;
  using difference_type = std::ptrdiff_t;
  using pointer = Record const*;
  using reference = Record const&;

  const_iterator() = default;
  const_iterator(internal::RecordBlocks const* blocks, std::size_t at) noexcept : blocks_(blocks), at_(at) {}

  reference operator*() const noexcept { return (*blocks_)[at_]; }
  pointer operator->() const noexcept { return &**this; }
  reference operator[](difference_type n) const noexcept { return *(*this + n); }
  const_iterator& operator+=(difference_type n) noexcept {
    at_ += static_cast<std::size_t>(n);
    return *this;
  }
  const_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  const_iterator& operator++() noexcept { return *this += 1; }
  const_iterator& operator--() noexcept { return *this -= 1; }
  const_iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  const_iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
  friend const_iterator operator+(const_iterator i, difference_type n) noexcept { return i += n; }
  friend const_iterator operator+(difference_type n, const_iterator i) noexcept { return i += n; }
  friend const_iterator operator-(const_iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(const_iterator const& a, const_iterator const& b) noexcept {
    return static_cast<difference_type>(a.at_ - b.at_);
  }
  friend bool operator==(const_iterator const& a, const_iterator const& b) noexcept { return a.at_ == b.at_; }
  friend auto operator<=>(const_iterator const& a, const_iterator const& b) noexcept { return a.at_ <=> b.at_; }

 private:
  internal::RecordBlocks const* blocks_ = nullptr;
  std::size_t at_ = 0;
};

inline Records::const_iterator Records::begin() const noexcept { return {blocks_.get(), begin_}; }
inline Records::const_iterator Records::end() const noexcept { return {blocks_.get(), end_}; }
inline Records::const_iterator Records::cbegin() const noexcept { return begin(); }
inline Records::const_iterator Records::cend() const noexcept { return end(); }
inline Records::const_reverse_iterator Records::rbegin() const noexcept { return const_reverse_iterator(end()); }
inline Records::const_reverse_iterator Records::rend() const noexcept { return const_reverse_iterator(begin()); }

/// Returns the events and new spans of the running test so far, on all its threads, oldest first; outside tests, the
/// records since the last test ended. Raises a test failure at `file` and `line`, the place of the call, if records are
/// missing: nothing is captured (TRACE_CAPTURE=off), or some were overwritten (TRACE_RECORD_LIMIT). Takes time
/// proportional to the number of records since the last call in this test; if some were overwritten, to all. While a
/// test runs, any thread may call it.
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
