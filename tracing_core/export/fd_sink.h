// FdSink: a sink that writes lines to a file descriptor, each by one write(2).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/export/line_framer.h"
#include "tracing_core/export/line_sink.h"

namespace tracing::inline v1 {

/// Writes each line or block by one write(2), so that lines of several threads and processes do not mix; on a pipe or
/// socket, those of other processes may come within one of more than 4096 bytes. Goes on if the system takes only a
/// part, and begins a new line after an incomplete one. Takes no lock but one for pipes and sockets, for which no
/// thread waits longer than a second and which a forked child finds free. A child's lines go to the same file. Never
/// throws, and counts what could not be written. pthread_cancel() does not end a thread in it. Raises no SIGPIPE, and
/// no SIGXFSZ with one exception: if RLIMIT_FSIZE is set after the sink was made, and a line ends exactly at the limit,
/// the next write raises it. On a non-blocking descriptor, waits up to a second before it drops a line.
///
/// A program that closes all descriptors may get this number for a file of its own. Nothing is written to that, or
/// closed, in a forked child, where each line costs an fstat(2) for it, and in other processes after a write to the
/// closed descriptor failed.
class FdSink final : public LineSink {
 public:
  /// Takes ownership of `descriptor`; every write to a negative one fails. Reports the first failed write on
  /// `error_fd`, naming the sink `name`; reports nothing if `error_fd` is negative. `end_of_broken`, a string literal,
  /// ends an incomplete line.
  explicit FdSink(int descriptor, std::string name = {}, int error_fd = 2,
                  std::string_view end_of_broken = "\n") noexcept;
  ~FdSink() override;

  /// Writes to a close-on-exec duplicate of `descriptor`, which stays the same when the program redirects the original.
  /// Null if there is no such descriptor. Reports no failed writes.
  static std::shared_ptr<FdSink> duplicate_of(int descriptor);
  /// Appends to a file, which is created for its user alone if it does not exist. Null, with `error` set, if it cannot be
  /// opened, or if `path` is a symbolic link other than those of the system, such as /dev/stdout. If not `may_be_special`,
  /// nor may it be a pipe, a device or a file of another user.
  static std::shared_ptr<FdSink> append_to(std::string const& path, std::error_code& error, int error_fd = 2,
                                           std::string_view end_of_broken = "\n", bool may_be_special = true);

  void write(Level level, std::string_view text) noexcept override;

  int descriptor() const noexcept { return descriptor_; }
  /// Writes no more if the descriptor is no longer the file that it was. A system call.
  void check_still() noexcept { lines_.check_still(descriptor_); }
  /// The number of writes that failed, completely or in part.
  std::uint64_t failed_writes() const noexcept { return failed_writes_.load(std::memory_order_relaxed); }
  /// The number of lines that were not written completely.
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

}  // namespace tracing::inline v1
