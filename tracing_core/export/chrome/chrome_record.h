// ChromeRecords: makes the text of the records of a Chrome trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/export/chrome.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace internal {

// The process and thread of a record.
struct ChromePlace {
  std::int64_t pid;
  std::int64_t tid;
};

// Makes records. Each begins with ",\n" and ends before its time, which end() appends. Thread-safe.
class ChromeRecords {
 public:
  explicit ChromeRecords(ChromeOptions const& options)
      : name_(options.name),
        category_(options.category),
        include_args_(options.include_args),
        include_locations_(options.include_locations),
        as_tracing_chrome_(options.as_tracing_chrome) {}

  // Returns true if names and categories depend on the callsite alone, so that append_stored() can be used.
  bool are_plain() const noexcept { return name_ == nullptr && category_ == nullptr && !as_tracing_chrome_; }
  bool include_args() const noexcept { return include_args_; }

  // Appends a complete record that names a thread, by append_name_of_thread(). With as_tracing_chrome, a thread without
  // a name gets its number in the trace as its name.
  void append_thread_name(TextBuffer& out, ChromePlace const& place, Track const& track) const noexcept;
  // Appends a record of a span. `phase` is B, E, b or e. `id` is the number of the span's row, and zero for B and E.
  // `category` is the category of its root, and null for B and E. Null stands for the span's own category.
  void append_span(TextBuffer& out, char phase, std::uint64_t id, std::string_view category, SpanRef span,
                   ChromePlace const& place) const noexcept;
  // Returns the category for all spans below this root; they share it since viewers identify a row by its category,
  // too. Returns null if each span has its own category, as in tracing-chrome, or if memory ran out.
  std::shared_ptr<std::string const> category_of_root(SpanRef span) const noexcept;
  // Appends a slice other than a span, of the category `test`. `phase` is B or E.
  void append_slice(TextBuffer& out, char phase, std::string_view name, ChromePlace const& place) const noexcept;
  void append_event(TextBuffer& out, Event const& event, ChromePlace const& place) const noexcept;
  // Appends what append_span() or append_event() would, from groups of values encoded as in StoredValues. For a span's
  // end, `groups` has all groups but the first.
  // REQUIRES: are_plain().
  void append_stored(TextBuffer& out, char phase, std::uint64_t id, Metadata const& metadata, std::string_view groups,
                     ChromePlace const& place) const noexcept;
  // Appends the time since the trace began, and ends the record.
  void end(TextBuffer& out, std::int64_t time_ns) const noexcept;

 private:
  class Members;
  bool has_location(Metadata const& metadata) const noexcept;
  template <class F>
  void append(TextBuffer& out, char phase, std::uint64_t id, std::string_view category, ChromeSubject const& subject,
              ChromePlace const& place, F add) const noexcept;
  static void append_place(TextBuffer& out, ChromePlace const& place, bool is_event) noexcept;
  void add_fields(Members& members, FieldValues const& fields, bool with_message) const noexcept;
  bool has_message_among_args(Event const& event) const noexcept;
  void append_name(TextBuffer& out, ChromeSubject const& subject) const noexcept;
  void append_category(TextBuffer& out, ChromeSubject const& subject) const noexcept;

  ChromeText const name_;
  ChromeText const category_;
  bool const include_args_;
  bool const include_locations_;
  bool const as_tracing_chrome_;
};

// Appends microseconds with three decimals.
void append_exact_us(TextBuffer& out, std::int64_t ns) noexcept;

}}}  // namespace tracing::v1::internal
