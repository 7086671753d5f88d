// ThreadOrigins: finds the test in which a thread was created.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace testlog { inline namespace v1 {

/// The system knows the clock tick, of 10 ms, in which it started a thread, and numbers threads in the order in which
/// it starts them. The tick tells which tests may have been running; if several may, the number decides. Tests begin
/// and end on one thread, and any thread may ask. Calls do not synchronise threads.
class ThreadOrigins {
 public:
  /// A place in the order in which threads are started.
  struct Moment {
    std::uint64_t ticks = 0;  ///< of the clock
    std::int64_t thread = 0;  ///< the number of the last thread started; 0: not known
  };

  static Moment now() noexcept;
  /// Returns when the calling thread was started; nothing if the system does not say.
  static std::optional<Moment> of_this_thread() noexcept;

  constexpr ThreadOrigins() noexcept = default;
  ThreadOrigins(ThreadOrigins const&) = delete;
  ThreadOrigins& operator=(ThreadOrigins const&) = delete;

  /// Tests have the numbers 1, 2, 3, ...
  void begin_test(std::uint32_t test, Moment now) noexcept;
  void end_test(Moment now) noexcept;
  /// Returns the test that ran at this moment, or 0 if no test ran. For a moment before the last 255 tests, returns a
  /// test that is no longer known.
  std::uint32_t test_at(Moment moment) const noexcept;

 private:
  struct Test {
    std::atomic<std::uint64_t> begin{0}, end{0};  // packed moments; `end` is 0 while the test runs
  };
  static constexpr std::uint32_t kTests = 256;

  std::atomic<std::uint32_t> last_{0};
  std::array<Test, kTests> tests_{};
};

}}  // namespace testlog::v1
