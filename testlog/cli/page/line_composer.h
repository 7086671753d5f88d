// LineComposer: composes a line of its parts as the script of the page does, to find out where the script would differ
// from what was printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "testlog/cli/page/page_records.h"
#include "tracing_core/record/entry.h"

namespace testlog::cli::page {

/// Returns the number of values that records of this statement have: of fields that are not the message, and of
/// placeholders.
std::size_t value_count_of(tracing::Metadata const& metadata);

class LineComposer {
 public:
  explicit LineComposer(PageRecords& records) : records_(records) {}
  LineComposer(LineComposer const&) = delete;
  LineComposer& operator=(LineComposer const&) = delete;

  /// Appends the values of a statement to PageRecords::values. Returns the index of the first.
  std::size_t add_values(tracing::Metadata const& metadata, tracing::Value const* values);
  /// Overwrites the values from `first` on with those that are not empty.
  void replace_values(std::size_t first, tracing::Metadata const& metadata, tracing::Value const* values);

  /// Divides the line into its parts, and sets those that the script would compose otherwise. REQUIRES: the other
  /// members of `line` are set.
  void divide(PageLine& line, std::string_view text);

 private:
  std::uint64_t value_of(tracing::Value const& value);
  std::uint64_t value_of(tracing::Metadata const& metadata, tracing::Value const* values, std::size_t placeholder);
  void append_fields(std::string& out, PageSite const& site, std::size_t first_value) const;
  void append_value(std::string& out, std::uint64_t value) const;
  std::uint32_t own(std::string_view text) { return records_.texts.number_of(text) + 1; }
  std::string const& context_of(std::uint32_t span);

  PageRecords& records_;
  std::string context_;             // of context_span_
  std::uint32_t context_span_ = 0;  // 0: of none
  std::string composed_;
};

}  // namespace testlog::cli::page
