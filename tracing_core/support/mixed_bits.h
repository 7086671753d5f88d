// mixed_bits(): makes each bit of a number depend on all of its bits.
#pragma once

#include <cstdint>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns another number for each number. Numbers that differ in few bits become numbers that differ in about half of
/// them. Source: the finaliser of SplitMix64, https://prng.di.unimi.it/splitmix64.c
constexpr std::uint64_t mixed_bits(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}}}  // namespace tracing::v1::support
