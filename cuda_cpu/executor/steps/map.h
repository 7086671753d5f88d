// map() turns a function of the values in one lane into a handler.
#pragma once

#include <bit>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "cuda_cpu/executor/machine/machine.h"

// Two registers are one array or do not overlap, so the iterations of a loop over lanes are independent.
#if defined(__clang__)
#define CUDA_CPU_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUDA_CPU_EACH_LANE _Pragma("GCC ivdep")
#endif

// The instructions of a function that has_wide_vectors() chooses. FMA gives the same bits as std::fma().
#if defined(__x86_64__)
#define CUDA_CPU_WIDE [[gnu::target("avx2,fma")]]
#else
#define CUDA_CPU_WIDE
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

/// A handler in two forms, one of them for processors with AVX2 and FMA. Converts to the form for this processor.
template <Handler kBasic, Handler kWide>
struct Versions {
  operator Handler() const noexcept { return has_wide_vectors() ? kWide : kBasic; }
};

namespace internal {

template <auto kFunction>
bool map_basic(Warp& warp, Step const& step, Mask lanes) {
  map_as<kFunction>(warp, step, lanes, kFunction);
  return true;
}
template <auto kFunction>
CUDA_CPU_WIDE bool map_wide(Warp& warp, Step const& step, Mask lanes) {
  map_as<kFunction>(warp, step, lanes, kFunction);
  return true;
}

}  // namespace internal

/// Computes destination = kFunction(sources...) in each lane; parameters and result are unsigned integers as wide as
/// the registers.
template <auto kFunction>
inline constexpr Versions<&internal::map_basic<kFunction>, &internal::map_wide<kFunction>> map{};

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

namespace internal {

template <auto kFunction>
bool map_rounded_basic(Warp& warp, Step const& step, Mask lanes) {
  RoundingScope const scope(step.rounding);
  return map_basic<kFunction>(warp, step, lanes);
}
template <auto kFunction>
bool map_rounded_wide(Warp& warp, Step const& step, Mask lanes) {
  RoundingScope const scope(step.rounding);
  return map_wide<kFunction>(warp, step, lanes);
}

}  // namespace internal

/// As map, with the rounding mode of the step, which is set once for all lanes.
template <auto kFunction>
inline constexpr Versions<&internal::map_rounded_basic<kFunction>, &internal::map_rounded_wide<kFunction>>
    map_rounded{};

/// Writes a value to a register in all these lanes.
template <class T>
[[gnu::always_inline]] inline void fill_lanes(T* to, T value, Mask lanes) {
  if (lanes == kAllLanes) {
    CUDA_CPU_EACH_LANE
    for (unsigned i = 0; i < kLanes; ++i) to[i] = value;
  } else {
    each_lane(lanes, [&](unsigned i) { to[i] = value; });
  }
}

/// Returns the bits of 32 bytes that are zero or one.
[[gnu::always_inline]] inline Mask packed(std::uint8_t const* flags) {
  Mask result = 0;
  for (unsigned i = 0; i < kLanes; i += 8) {
    U64 bytes = 0;
    std::memcpy(&bytes, flags + i, sizeof bytes);
    result |= static_cast<Mask>(bytes * 0x0102040810204080 >> 56) << i;
  }
  return result;
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
