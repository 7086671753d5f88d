// Declares how the records of a Chrome trace are made as text.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/export/chrome.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// Where and when a record happens.
struct ChromePlace {
  std::int64_t pid;
  std::int64_t tid;
  std::int64_t time_ns;  // since the trace's own beginning
};

// Makes records, each behind ",\n". Thread-safe.
class ChromeRecords {
 public:
  explicit ChromeRecords(ChromeOptions const& options)
      : name_(options.name),
        category_(options.category),
        include_args_(options.include_args),
        include_locations_(options.include_locations),
        as_tracing_chrome_(options.as_tracing_chrome) {}

  // `name` is the thread's; where it has none there is no record, but in the reference's way, which calls it by its number.
  void append_thread_name(TextBuffer& out, ChromePlace const& place, std::string_view name) const noexcept;
  // `phase` is one of B, E, b and e; `id` is the root's, zero for the first two.
  void append_span(TextBuffer& out, char phase, std::uint64_t id, SpanRef span, ChromePlace const& place) const noexcept;
  void append_event(TextBuffer& out, Event const& event, ChromePlace const& place) const noexcept;

 private:
  void append(TextBuffer& out, char phase, std::uint64_t id, ChromeSubject const& subject, ChromePlace const& place) const noexcept;
  static void append_place(TextBuffer& out, ChromePlace const& place, bool is_event) noexcept;
  void append_args(TextBuffer& out, ChromeSubject const& subject, bool is_end) const noexcept;
  void append_name(TextBuffer& out, ChromeSubject const& subject) const noexcept;
  void append_category(TextBuffer& out, ChromeSubject const& subject) const noexcept;
  bool has_location(Metadata const& metadata) const noexcept;

  ChromeText const name_;
  ChromeText const category_;
  bool const include_args_;
  bool const include_locations_;
  bool const as_tracing_chrome_;
};

}  // namespace tracing::inline v1::internal
