// Declares TraceFile, a file that holds whole records, whatever happens to the process and the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace tracing::inline v1::internal {

// A file of records, made anew. What cannot be written whole is taken back. Single-thread; never throws but for memory.
class TraceFile {
 public:
  // Null, and `error` says why, where it cannot be made.
  static std::unique_ptr<TraceFile> create(std::string path, int complain_to, std::error_code& error);
  TraceFile(TraceFile const&) = delete;
  TraceFile& operator=(TraceFile const&) = delete;
  ~TraceFile();

  // False where nothing of it is in the file; the first time, `complain_to` is told, where that is a descriptor.
  bool append(std::string_view text) noexcept;

  std::string const& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  bool is_regular() const noexcept { return is_regular_; }

  // A killed process's write(2) ends early only at the end of a page: a record that lies within one is there or not there.
  // So this many blanks stand before a record of `size` bytes that is to begin at `place`; none where it is longer than a page.
  static std::size_t blanks_before(std::size_t size, std::uint64_t place) noexcept;
  // Adds blanks until what comes stands in its page as it would at `place`. REQUIRES: is_regular().
  bool go_to_page_offset(std::uint64_t place) noexcept;
  // Says that `count` records are not in the file; nothing where that is none.
  void tell_missing(std::uint64_t count) const noexcept;

 private:
  TraceFile(int descriptor, std::string path, int complain_to) noexcept;

  int const descriptor_;
  std::string const path_;
  bool const is_regular_;
  int const complain_to_;
  std::uint64_t size_ = 0;
  bool failed_ = false;
};

// Says that a trace cannot be written, and why; nothing where `complain_to` is negative.
void tell_trace_failure(int complain_to, std::string_view path, int error) noexcept;

}  // namespace tracing::inline v1::internal
