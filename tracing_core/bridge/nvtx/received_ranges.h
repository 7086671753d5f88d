// Makes spans and events of the ranges and marks that the receiver is told about.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/bridge/nvtx/received_names.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {

// What an NVTX call says of a range or a mark.
struct RangeData {
  Domain const& domain;
  std::string_view text{};          // null if it has no name
  RangeName const* name = nullptr;  // set if the text is a registered string
  std::uint32_t category = 0;       // 0: none
  Value payload{};
};

inline constexpr int kNoRange = -1;               // the level of a range that is not there
inline constexpr std::size_t kMaxPushed = 1000;   // ranges that a thread is in
inline constexpr std::size_t kMaxStarted = 4096;  // ranges that were started and not ended

// Enters a span on the calling thread. Returns how many ranges of the domain the thread was in.
int push_range(RangeData const& range) noexcept;
// Leaves the span of the domain that the thread entered last. Returns its level, or kNoRange if there is none.
int pop_range(Domain const& domain) noexcept;
// Opens a span that no thread enters, to be ended by any thread. Returns 0 if nobody wants it.
std::uint64_t start_range(RangeData const& range) noexcept;
// Ignores a number that start_range() has not returned, or that was ended before.
void end_range(std::uint64_t id) noexcept;
void emit_mark(RangeData const& mark) noexcept;

}}}}  // namespace tracing::v1::bridge::nvtx
