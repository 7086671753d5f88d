// LineFramer: begins each line of text on a line of its own, also after an incomplete one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/write_all.h"

namespace tracing::inline v1::internal {

// Writes lines to a descriptor. After an incomplete line, because the disk was full or its writer was killed, it
// ends that line first; otherwise the next line would be lost with it. Thread-safe and async-signal-safe, without a
// lock: threads that write after a broken line at the same time may end it twice.
class LineFramer {
 public:
  // `end_of_broken`, a string literal, ends an incomplete line.
  constexpr explicit LineFramer(std::string_view end_of_broken = "\n") noexcept : end_of_broken_(end_of_broken) {}

  // Writes lines, each with its end, by one call of write_all(), unless the line before is incomplete. Returns 0, the
  // error for which lines are missing, or kNotOurs.
  int write(int descriptor, bool blocks_signals, std::string_view lines, Turns turns = Turns::take) noexcept;
  // The program closed the descriptor, and may use its number for a file of its own: nothing was or will be written.
  static constexpr int kNotOurs = -1;
  // This descriptor is now used: remembers which file it is. A forked child checks that before each write, since daemons
  // close all descriptors after fork(); other processes notice a closed descriptor when a write fails.
  void opened(int descriptor) noexcept;
  // Whether it still is that file. A system call.
  bool is_still(int descriptor) const noexcept;
  // Writes no more if it is not.
  void check_still(int descriptor) noexcept {
    if (!is_still(descriptor)) is_lost_.store(true, std::memory_order_relaxed);
  }
  // The descriptor is now the file at `path`: checks whether its last line is incomplete. Looks again after a
  // millisecond if so, since another thread or process may be just writing it.
  void check_file(std::string const& path) noexcept;

  // Lines that were not written completely.
  std::uint64_t missing() const noexcept { return missing_.load(std::memory_order_relaxed); }

 private:
  int end_broken(int descriptor, Turns turns) noexcept;
  void count_missing(std::string_view lines, std::string_view rest) noexcept;

  std::string_view const end_of_broken_;
  std::atomic<std::uint64_t> identity_{0};
  std::atomic<unsigned> forks_{0};  // when it was opened
  std::atomic<bool> is_lost_{false};
  std::atomic<bool> is_broken_{false};
  std::atomic<std::uint64_t> missing_{0};
};

}  // namespace tracing::inline v1::internal
