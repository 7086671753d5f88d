// Declares how a Chrome trace is made whole again whose process was killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <system_error>

namespace tracing::inline v1 {

/// What was found in a trace.
struct ChromeRepair {
  bool is_list = false;          ///< it begins as a list of records, `[`, or was empty; else nothing is written
  bool was_empty = false;        ///< not one byte; an empty list is made of it
  bool was_closed = false;       ///< it ended in `]`
  std::uint64_t records = 0;     ///< whole ones, all of which are kept
  std::uint64_t left_out = 0;    ///< pieces that are no whole records: half of one, text between two
  std::uint64_t bytes_left_out = 0;
  std::uint64_t put_right = 0;   ///< commas and brackets between records that were missing or too many

  /// Whether the trace was strict JSON already.
  bool was_whole() const noexcept { return is_list && was_closed && left_out + put_right == 0; }
};

/// Reads a trace from a file descriptor and passes it on to `write`, in blocks, as strict JSON: the records that are whole,
/// byte for byte, one on each line. So what is left out is what a killed process had not written to its end, and what somebody
/// wrote in between. Several lists one behind the other become one, of an empty file becomes an empty one. Memory is that of
/// the longest record, and that has a limit of 64 MiB. Returns why reading stopped before the end, if it did. Throws what
/// `write` throws, and std::bad_alloc. Thread-safe.
std::error_code repair_chrome(int file, ChromeRepair& found, std::function<void(std::string_view text)> const& write);

}  // namespace tracing::inline v1
