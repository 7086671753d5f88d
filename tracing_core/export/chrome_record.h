// ChromeRecords: the text of the records of a Chrome trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/export/chrome.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// The process and thread of a record.
struct ChromePlace {
  std::int64_t pid;
  std::int64_t tid;
};

// Makes records, each preceded by ",\n" and up to its time, which end() appends. Thread-safe.
class ChromeRecords {
 public:
  explicit ChromeRecords(ChromeOptions const& options)
      : name_(options.name), category_(options.category), include_args_(options.include_args),
        include_locations_(options.include_locations), as_tracing_chrome_(options.as_tracing_chrome) {}

  // Whether names and categories depend on the callsite alone, so that append_stored() can be used.
  bool are_plain() const noexcept { return name_ == nullptr && category_ == nullptr && !as_tracing_chrome_; }
  bool include_args() const noexcept { return include_args_; }

  // Appends a complete record that names a thread, by append_name_of_thread(). tracing-chrome calls one without a name
  // by its number in the trace.
  void append_thread_name(TextBuffer& out, ChromePlace const& place, Track const& track) const noexcept;
  // `phase` is one of B, E, b and e; `id` and `category` are the root's, or zero and null for B and E. A null category
  // is the span's own.
  void append_span(TextBuffer& out, char phase, std::uint64_t id, std::string_view category, SpanRef span,
                   ChromePlace const& place) const noexcept;
  // The category of all spans below this root, since viewers identify a row by its category, too. Null if each span has
  // its own, as in tracing-chrome.
  std::shared_ptr<std::string const> category_of_root(SpanRef span) const noexcept;
  // A slice of the category `test` that is no span; `phase` is B or E.
  void append_slice(TextBuffer& out, char phase, std::string_view name, ChromePlace const& place) const noexcept;
  void append_event(TextBuffer& out, Event const& event, ChromePlace const& place) const noexcept;
  // Appends the same as append_span() or append_event() from groups of values as StoredValues has them; for a span's
  // end, from those after the first.
  // REQUIRES: are_plain().
  void append_stored(TextBuffer& out, char phase, std::uint64_t id, Metadata const& metadata, std::string_view groups,
                     ChromePlace const& place) const noexcept;
  // Appends the time since the trace's own beginning and ends the record.
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

}  // namespace tracing::inline v1::internal
