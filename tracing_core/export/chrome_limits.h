// Declares how much of a Chrome trace waits, and for how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tracing::inline v1::internal {

// What a thread recorded is written when it is this old, or the thread itself writes it. A little less than is promised.
inline constexpr std::uint64_t kMostAgeNs = 95'000'000;
// The trace's thread writes after a while, so that it does not write each record by itself, or when so much waits. Waking it
// costs more than many records.
inline constexpr std::chrono::milliseconds kDoze{10};
inline constexpr std::size_t kEnoughBytes = 256 * 1024;
// So much waits at most in full chunks: who records more writes it.
inline constexpr std::size_t kMostBytes = 8 * 1024 * 1024;
// What is written at once, if it is not one record.
inline constexpr std::size_t kBlockBytes = 128 * 1024;
inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMostSpareChunks = 32;

}  // namespace tracing::inline v1::internal
