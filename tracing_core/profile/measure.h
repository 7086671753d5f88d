// profile(): runs a function several times and says what each run took: time, compilation, launches, copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

struct ProfileOptions {
  /// The number of runs before the runs that count; they compile and fill caches.
  unsigned warmup = 1;
  unsigned repeat = 1;
};

/// The time and work of a run, as tracing::cuda recorded it on all threads until `f` returned. Work that a device does
/// later is missing, so `f` should wait for the device. A call that is captured into a graph does not count. A launch
/// of a graph counts the calls that the CPU backend makes for its nodes; a GPU's driver makes no such calls.
struct ProfiledRun {
  std::uint64_t runtime_ns = 0;
  std::uint64_t compile_ns = 0;    ///< in spans `compile`, summed over all threads
  std::uint64_t launches = 0;      ///< of kernels
  std::uint64_t device_ns = 0;     ///< the sum of all kernels' times, where the device's own times are recorded
  std::uint64_t copied_bytes = 0;  ///< between host and device, and on the device
};

struct Spread {
  double mean = 0;
  double deviation = 0;  ///< the standard deviation of the sample; zero for a single run
  std::uint64_t min = 0;
  std::uint64_t median = 0;
  std::uint64_t max = 0;
};

struct ProfiledRuns {
  std::vector<ProfiledRun> warmup{};
  std::vector<ProfiledRun> runs{};
  /// Says why only the times are known; empty if everything is known.
  std::string error{};

  /// Returns the spread over the runs that count: `runs.spread(&ProfiledRun::runtime_ns).median`. Zero without runs.
  Spread spread(std::uint64_t ProfiledRun::*what) const;
  /// Returns a few lines for people: the times, launches and copies of the runs, and the compilation in the warm-up,
  /// too.
  std::string to_string() const;
};

namespace internal {
ProfiledRuns profile_runs(void (*run)(void* f), void* f, ProfileOptions const& options);
}

/// Calls `f()` `warmup` and `repeat` times while a profile is recorded in memory, and says what each call took. The
/// result of `f` is ignored; its exception ends the profile and is passed on. If a profile is already being recorded,
/// or cannot be started, only the times are known:
///
///     auto const runs = tracing::profile([&] { step(model); }, {.warmup = 2, .repeat = 10});
///     fmt::print("{}", runs.to_string());
template <class F>
ProfiledRuns profile(F&& f, ProfileOptions const& options = {}) {
  using Function = std::remove_reference_t<F>;
  return internal::profile_runs([](void* to) { (void)(*static_cast<Function*>(to))(); },
                                const_cast<void*>(static_cast<void const*>(&f)), options);
}

}}  // namespace tracing::v1
