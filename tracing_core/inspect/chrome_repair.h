// repair_chrome(): makes strict JSON of a Chrome trace whose process was killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <system_error>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Says what repair_chrome() found in a trace.
struct ChromeRepair {
  bool is_list = false;        ///< it begins with `[`, or is empty; otherwise nothing is written
  bool was_closed = false;     ///< it ends with `]`
  std::uint64_t records = 0;   ///< complete records, all of which are kept
  std::uint64_t left_out = 0;  ///< lines that are not complete records
  std::uint64_t bytes_left_out = 0;
};

/// Reads a trace from a file descriptor and passes it to `write`, in blocks, as strict JSON: its complete records, byte
/// for byte. The trace must have at most one record on a line, as TRACE_CHROME and ChromeLayer write it. Several lists
/// in a row become one; an empty file becomes an empty list. Brackets and the ends of strings decide whether a record
/// is complete; the JSON inside is not checked. Takes memory for the longest line. Returns the error that stopped
/// reading before the end, if any. Throws what `write` throws, and std::bad_alloc. Thread-safe.
std::error_code repair_chrome(int file, ChromeRepair& found, std::function<void(std::string_view text)> const& write);

}}  // namespace tracing::v1
