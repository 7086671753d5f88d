// AddressLines: asks addr2line for the lines of addresses, where nothing may lock or allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Runs `addr2line` or, if it is missing, `llvm-addr2line`, as a process that is not a child of this process: nobody
/// waits for it, no SIGCHLD comes, and it inherits neither descriptors nor variables. It ends by itself after five
/// seconds. Finds no lines if both programs are missing. Async-signal-safe, except prepare(); one thread at a time.
class AddressLines {
 public:
  static constexpr std::size_t kMax = 256;

  /// Keeps PATH, in which the programs are looked for. Not async-signal-safe.
  static void prepare() noexcept;

  /// `file` is the path of a program or library. It must live as long as this object.
  explicit AddressLines(char const* file) noexcept : file_(file) {}
  /// Adds an offset as in CodePlaces. Drops it if there are already kMax.
  void add(std::uint64_t offset) noexcept;
  /// Waits until `deadline_ns` of CLOCK_MONOTONIC at most. Calls `f(n, innermost, outermost)` if the offset number n
  /// has lines. They are two places such as `/src/load.cc:88`, which differ if code was inlined.
  template <class F>
  void find(std::uint64_t deadline_ns, F&& f) noexcept {
    std::string_view answer = ask(deadline_ns);
    answer = answer.substr(0, answer.rfind('\n') + 1);  // the last line may be cut
    std::string_view innermost, outermost;
    std::size_t n = 0;  // the number of the next offset
    while (!answer.empty()) {
      std::string_view const line = answer.substr(0, answer.find('\n'));
      answer.remove_prefix(line.size() < answer.size() ? line.size() + 1 : line.size());
      if (line.starts_with("0x")) {
        if (!innermost.empty()) f(n - 1, innermost, outermost);
        innermost = outermost = {};
        if (++n > count_) return;
      } else if (std::string_view const place = place_of(line); !place.empty()) {
        if (innermost.empty()) innermost = place;
        outermost = place;
      }
    }
    if (!innermost.empty()) f(n - 1, innermost, outermost);
  }

 private:
  static std::string_view place_of(std::string_view line) noexcept;
  std::string_view ask(std::uint64_t deadline_ns) noexcept;

  char const* const file_;
  std::size_t count_ = 0;
};

}}}  // namespace tracing::v1::support
