// FdSink: a sink that writes lines to a file descriptor, each by one write(2), or several behind a NonBlockingSink.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/export/line_framer.h"
#include "tracing_core/export/line_sink.h"

namespace tracing { inline namespace v1 {

/// Writes each line or block by one write(2), so that lines of several threads and processes do not mix. The exception
/// is a line of more than 4096 bytes on a pipe or socket: lines of other processes may come within it. Behind a
/// NonBlockingSink, writes up to 4096 bytes of lines by one write(2), except where a reader gets each write by itself
/// (sockets of datagrams, pipes with O_DIRECT). If the system takes only a part, writes the rest, too; after an
/// incomplete line, begins a new one. On a non-blocking descriptor, waits up to a second before it drops what it was
/// given.
///
/// Takes a lock for pipes and sockets only; no thread waits for it longer than a second, and a forked child finds it
/// free. A child's lines go to the same file. Never throws; counts the lines that could not be written.
/// pthread_cancel() does not end a thread in write(). Never raises SIGPIPE. Raises SIGXFSZ in one case only: if
/// RLIMIT_FSIZE was set after the sink was made, and a line ends exactly at the limit, the next write raises it.
///
/// A program that closes all descriptors may get this number for a file of its own. The sink never closes that file. A
/// forked child does not write to it, either: it checks the descriptor by an fstat(2) before each line. Another process
/// stops writing once a write to the closed descriptor has failed.
class FdSink final : public LineSink {
 public:
  /// Takes ownership of `descriptor`; if it is negative, every write fails. Reports the first failed write on
  /// `error_fd`, naming the sink `name`; reports nothing if `error_fd` is negative. `end_of_broken`, a string literal,
  /// ends an incomplete line.
  explicit FdSink(int descriptor, std::string name = {}, int error_fd = 2,
                  std::string_view end_of_broken = "\n") noexcept;
  ~FdSink() override;

  /// Makes a sink that writes to a close-on-exec duplicate of `descriptor`, which is not redirected when the program
  /// redirects the original. Returns null if `descriptor` is not open. The sink reports no failed writes.
  static std::shared_ptr<FdSink> duplicate_of(int descriptor);
  /// Makes a sink that appends to a file, which is created for its user alone if it does not exist. Returns null and
  /// sets `error` if the file cannot be opened, or if `path` is a symbolic link, except a link of the system such as
  /// /dev/stdout. Unless `may_be_special`, a pipe, a device or a file of another user is refused, too.
  static std::shared_ptr<FdSink> append_to(std::string const& path, std::error_code& error, int error_fd = 2,
                                           std::string_view end_of_broken = "\n", bool may_be_special = true);

  void write(Level level, std::string_view text) noexcept override;
  bool takes_joined_lines() const noexcept override;

  int descriptor() const noexcept { return descriptor_; }
  /// Stops all writing if the descriptor no longer is the file that it was. Costs a system call.
  void check_still() noexcept { lines_.check_still(descriptor_); }
  /// Returns the number of writes that failed, completely or in part.
  std::uint64_t failed_writes() const noexcept { return failed_writes_.load(std::memory_order_relaxed); }
  /// Returns the number of lines that were not written completely.
  std::uint64_t missing_lines() const noexcept { return lines_.missing(); }

 private:
  void report_failure(int error) noexcept;

  int const descriptor_;
  bool const blocks_signals_;
  int const error_fd_;
  std::string const name_;
  internal::LineFramer lines_;
  std::atomic<std::uint64_t> failed_writes_{0};
};

}}  // namespace tracing::v1
