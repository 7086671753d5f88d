// ThreadOrigins: in which test a thread was created.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace testlog::inline v1 {

/// The system knows the clock tick, of 10 ms, in which it started a thread, and numbers threads in the order in which it starts them.
/// The first tells which tests may have been running, and where these are several, the second which one was. Tests begin and end on
/// one thread, any thread may ask; no call orders two threads.
class ThreadOrigins {
 public:
  /// A place in the order in which threads are started.
  struct Moment {
    std::uint64_t ticks = 0;  ///< of the clock
    std::int64_t thread = 0;  ///< the number of the last thread; 0: not known
  };

  static Moment now() noexcept;
  /// When the calling thread was started. None if the system does not say.
  static std::optional<Moment> of_this_thread() noexcept;

  constexpr ThreadOrigins() noexcept = default;
  ThreadOrigins(ThreadOrigins const&) = delete;
  ThreadOrigins& operator=(ThreadOrigins const&) = delete;

  /// Tests have the numbers 1, 2, 3, ...
  void begin_test(std::uint32_t test, Moment now) noexcept;
  void end_test(Moment now) noexcept;
  /// The test that ran at this moment; 0: none. Of moments before the last 255 tests, a test that is not known any more.
  std::uint32_t test_at(Moment moment) const noexcept;

 private:
  struct Test {
    std::atomic<std::uint64_t> begin{0}, end{0};  // moments in one number; `end` is 0 as long as it runs
  };
  static constexpr std::uint32_t kTests = 256;

  std::atomic<std::uint32_t> last_{0};
  std::array<Test, kTests> tests_{};
};

}  // namespace testlog::inline v1
