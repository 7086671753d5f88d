// Declares FdSink, which writes lines to a file descriptor, each by one write(2).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/whole_lines.h"

namespace tracing::inline v1 {

/// Writes each line or block by one write(2), so that lines of several threads and processes are never torn. Continues where
/// the system took only a part, and behind a line that broke off all the same begins a new one. Holds no lock: safe in a
/// forked child, whose lines go to the same file. Never throws and raises neither SIGPIPE nor SIGXFSZ; what could not be
/// written is counted. Where a descriptor does not block, waits a second for room before it gives a line up.
class FdSink final : public LineSink {
 public:
  /// Takes over `descriptor`, which is closed at the end; negative: everything fails. The first failed write is told, once,
  /// on the descriptor `complain_to`, by which `name` is what it was; nowhere where that is negative. `end_of_broken`, a text
  /// for good, is what stands behind a line that broke off.
  explicit FdSink(int descriptor, std::string name = {}, int complain_to = 2, std::string_view end_of_broken = "\n") noexcept;
  ~FdSink() override;

  /// On a duplicate of `descriptor`, which is closed on exec and stays what it is when the program redirects the original.
  /// Null where there is no such descriptor; nothing is said about failed writes.
  static std::shared_ptr<FdSink> duplicate_of(int descriptor);
  /// Appends to a file, which is made where it is not there; behind a line that somebody broke off, too. Null, and `error`
  /// says why, where it cannot be opened.
  static std::shared_ptr<FdSink> append_to(std::string const& path, std::error_code& error, int complain_to = 2,
                                           std::string_view end_of_broken = "\n");

  void write(Level level, std::string_view text) noexcept override;

  int descriptor() const noexcept { return descriptor_; }
  /// Writes that failed, wholly or from some byte on.
  std::uint64_t failed_writes() const noexcept { return failed_writes_.load(std::memory_order_relaxed); }
  /// Lines that are not there, wholly or from some byte on: of a block all that were not written.
  std::uint64_t missing_lines() const noexcept { return lines_.missing(); }

 private:
  void fail(int error) noexcept;

  int const descriptor_;
  int const complain_to_;
  std::string const name_;
  internal::WriteAll* const write_all_;  // by what the descriptor is
  internal::WholeLines lines_;
  std::atomic<std::uint64_t> failed_writes_{0};
};

}  // namespace tracing::inline v1
