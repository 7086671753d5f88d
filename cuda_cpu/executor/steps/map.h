// map() turns a function of the values in one lane into a handler.
#pragma once

#include <bit>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "cuda_cpu/executor/machine/machine.h"

// Two registers are one array or do not overlap, so the iterations of a loop over lanes are independent.
#if defined(__clang__)
#define CUDA_CPU_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUDA_CPU_EACH_LANE _Pragma("GCC ivdep")
#endif

namespace cuda_cpu {

using ptx::Form;
using ptx::Space;
using ptx::Type;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class Visit>
[[gnu::always_inline]] inline void each_lane(Mask lanes, Visit const& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

namespace internal {

template <auto kFunction, class R, class... A, std::size_t... kIndex>
[[gnu::always_inline]] inline void map_lanes(Warp& warp, Step const& step, Mask lanes, R (*)(A...),
                                             std::index_sequence<kIndex...>) {
  R* const to = warp.at<R>(step.destination[0]);
  auto const from = std::tuple(static_cast<A const*>(warp.at<A>(step.source[kIndex]))...);
  if (lanes == kAllLanes) {
    CUDA_CPU_EACH_LANE
    for (unsigned i = 0; i < kLanes; ++i) to[i] = kFunction(std::get<kIndex>(from)[i]...);
  } else {
    each_lane(lanes, [&](unsigned i) { to[i] = kFunction(std::get<kIndex>(from)[i]...); });
  }
}

template <auto kFunction, class R, class... A>
[[gnu::always_inline]] inline void map_as(Warp& warp, Step const& step, Mask lanes, R (*function)(A...)) {
  map_lanes<kFunction>(warp, step, lanes, function, std::index_sequence_for<A...>());
}

}  // namespace internal

/// Computes destination = kFunction(sources...) in each lane; parameters and result are unsigned integers as wide as
/// the registers.
template <auto kFunction>
bool map(Warp& warp, Step const& step, Mask lanes) {
  internal::map_as<kFunction>(warp, step, lanes, kFunction);
  return true;
}

/// Sets the processor's rounding mode for its lifetime. Computations in its scope must read and write memory, which the
/// compiler cannot move across the calls.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) noexcept : changed_(rounding != Rounding::nearest) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (changed_) std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  RoundingScope(RoundingScope const&) = delete;
  RoundingScope& operator=(RoundingScope const&) = delete;
  ~RoundingScope() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }

 private:
  bool changed_;
};

/// As map(), with the rounding mode of the step, which is set once for all lanes.
template <auto kFunction>
bool map_rounded(Warp& warp, Step const& step, Mask lanes) {
  RoundingScope const scope(step.rounding);
  return map<kFunction>(warp, step, lanes);
}

/// Writes to a register of a vector. Extends a signed T by its sign in a wider register.
template <class T>
void write_register(Warp& warp, Step const& step, unsigned i, unsigned lane, T value) {
  Location const to = step.destination[i];
  if (to == kNowhere) return;
  switch (step.width[i]) {
    case 2: warp.at<std::uint16_t>(to)[lane] = static_cast<std::uint16_t>(value); break;
    case 4: warp.at<std::uint32_t>(to)[lane] = static_cast<std::uint32_t>(value); break;
    default: warp.at<U64>(to)[lane] = static_cast<U64>(value);
  }
}
/// Reads a register of a vector.
template <class T>
T read_register(Warp& warp, Step const& step, unsigned i, unsigned lane) {
  switch (step.source_width[i]) {
    case 2: return static_cast<T>(warp.at<std::uint16_t>(step.source[i])[lane]);
    case 4: return static_cast<T>(warp.at<std::uint32_t>(step.source[i])[lane]);
    default: return static_cast<T>(warp.at<U64>(step.source[i])[lane]);
  }
}

}  // namespace cuda_cpu
