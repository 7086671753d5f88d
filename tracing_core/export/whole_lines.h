// Declares WholeLines, which keeps lines apart from one that broke off, and counts those that are missing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/write_all.h"

namespace tracing::inline v1::internal {

// How lines come to a descriptor: each begins on a line of its own, also where the one before it broke off, by a full disk or
// because its writer was killed. Else a good one would be lost with the broken one. Thread-safe and async-signal-safe, without
// a lock: where two threads begin behind one that broke off, an empty line may stand between theirs.
class WholeLines {
 public:
  // What ends a line that broke off.
  constexpr explicit WholeLines(std::string_view end_of_broken = "\n") noexcept : end_of_broken_(end_of_broken) {}

  // Writes lines, each with its end, by one call of `write_all` where none broke off; 0, or why not all are there.
  int write(int descriptor, WriteAll* write_all, std::string_view lines) noexcept {
    if (is_broken()) [[unlikely]] {
      if (int const error = end_broken(descriptor, write_all)) return count_missing(lines, lines), error;
    }
    std::string_view rest = lines;
    int const error = write_all(descriptor, rest);
    if (error != 0) [[unlikely]] count_missing(lines, rest);
    return error;
  }
  // The descriptor is now the file at `path`: what broke off there, if anything did, was written by others.
  void look_at(int descriptor, std::string const& path) noexcept;

  // Lines that are not there, wholly or from some byte on.
  std::uint64_t missing() const noexcept { return missing_.load(std::memory_order_relaxed); }

 private:
  bool is_broken() const noexcept { return ended_.load(std::memory_order_relaxed) != broken_.load(std::memory_order_relaxed); }
  int end_broken(int descriptor, WriteAll* write_all) noexcept;
  void count_missing(std::string_view lines, std::string_view rest) noexcept;

  std::string_view const end_of_broken_;
  std::atomic<unsigned> broken_{0};  // how many lines broke off
  std::atomic<unsigned> ended_{0};   // which of them was ended last
  std::atomic<std::uint64_t> missing_{0};
};

}  // namespace tracing::inline v1::internal
