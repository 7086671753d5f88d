// Declares how the records of a Chrome trace are made as text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/export/chrome.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// Where a record happens.
struct ChromePlace {
  std::int64_t pid;
  std::int64_t tid;
};

// Makes records, each behind ",\n" and up to its time, which end() appends. Thread-safe.
class ChromeRecords {
 public:
  explicit ChromeRecords(ChromeOptions const& options)
      : name_(options.name),
        category_(options.category),
        include_args_(options.include_args),
        include_locations_(options.include_locations),
        as_tracing_chrome_(options.as_tracing_chrome) {}

  // Whether what a record says of its callsite is the same each time and known without asking anybody: append_stored() will do.
  bool are_plain() const noexcept { return name_ == nullptr && category_ == nullptr && !as_tracing_chrome_; }
  bool include_args() const noexcept { return include_args_; }

  // `name` is the thread's; where it has none there is no record, but in the reference's way, which calls it by its number. It
  // is whole.
  void append_thread_name(TextBuffer& out, ChromePlace const& place, std::string_view name) const noexcept;
  // `phase` is one of B, E, b and e; `id` and `category` are the root's, zero and null for the first two. Where the category is
  // null, it is the span's own.
  void append_span(TextBuffer& out, char phase, std::uint64_t id, std::string_view category, SpanRef span,
                   ChromePlace const& place) const noexcept;
  // What all spans below this one have, since viewers look for a line by its category, too. Null where each has its own, as in
  // the reference's way.
  std::shared_ptr<std::string const> category_of_root(SpanRef span) const noexcept;
  void append_event(TextBuffer& out, Event const& event, ChromePlace const& place) const noexcept;
  // What one of these would have appended, of the groups of values that StoredValues keeps: of a span's end those after the
  // first.
  // REQUIRES: are_plain().
  void append_stored(TextBuffer& out, char phase, std::uint64_t id, Metadata const& metadata, std::string_view groups,
                     ChromePlace const& place) const noexcept;
  // When it happened, since the trace's own beginning.
  void end(TextBuffer& out, std::int64_t time_ns) const noexcept;

  // Whether the place in the source is told.
  bool has_location(Metadata const& metadata) const noexcept;

 private:
  class Members;
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

// Microseconds with three decimals.
void append_exact_us(TextBuffer& out, std::int64_t ns) noexcept;

}  // namespace tracing::inline v1::internal
