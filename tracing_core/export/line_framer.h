// LineFramer: begins a new line for each line of text, even after an incomplete line.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/write_all.h"

namespace tracing { inline namespace v1 { namespace internal {

// Writes lines to a descriptor. If the last line is incomplete, because the disk was full or its writer was killed,
// ends it first; otherwise the next line would continue it and be lost, too. Thread-safe and async-signal-safe, without
// a lock: if several threads write at the same time after an incomplete line, they may end it twice.
class LineFramer {
 public:
  // `end_of_broken`, a string literal, ends an incomplete line.
  constexpr explicit LineFramer(std::string_view end_of_broken = "\n") noexcept : end_of_broken_(end_of_broken) {}

  // Writes complete lines by one call of write_all(), after another call if the line before must be ended. Returns 0,
  // kNotOurs, or the error because of which lines are missing.
  int write(int descriptor, bool blocks_signals, std::string_view lines, Turns turns = Turns::take) noexcept;
  // Returned if the program closed the descriptor, and may use its number for a file of its own: nothing was written,
  // and nothing will be.
  static constexpr int kNotOurs = -1;
  // Remembers which file the descriptor is, from now on. A forked child checks that before each write, since daemons
  // close all descriptors after fork(); other processes notice a closed descriptor when a write fails.
  void opened(int descriptor) noexcept;
  // Returns true if the descriptor still is the file that was opened(). Costs a system call.
  bool is_still(int descriptor) const noexcept;
  // Stops all writing, until the next opened(), if the descriptor no longer is that file.
  void check_still(int descriptor) noexcept {
    if (!is_still(descriptor)) is_lost_.store(true, std::memory_order_relaxed);
  }
  // Checks whether the last line of the file at `path`, which the descriptor now is, is incomplete. If so, looks again
  // each millisecond while the file grows, since another thread or process may just be writing the line.
  void check_file(std::string const& path) noexcept;

  // Returns the number of lines that were not written completely.
  std::uint64_t missing() const noexcept { return missing_.load(std::memory_order_relaxed); }

 private:
  int end_broken(int descriptor, Turns turns) noexcept;
  void count_missing(std::string_view lines, std::string_view rest) noexcept;

  std::string_view const end_of_broken_;
  std::atomic<std::uint64_t> identity_{0};
  std::atomic<unsigned> forks_{0};  // fork_count() when the file was opened
  std::atomic<bool> is_lost_{false};
  std::atomic<bool> is_broken_{false};
  std::atomic<std::uint64_t> missing_{0};
};

}}}  // namespace tracing::v1::internal
