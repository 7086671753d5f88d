// requested_bytes(): computes from a span of tracing::cuda how many bytes its call copies or fills.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

/// Returns the bytes of a copy or fill. `count_of(name)` returns a field of the call's span as an optional number.
template <class F>
std::uint64_t requested_bytes(std::string_view call, F&& count_of) {
  if (auto const bytes = count_of("bytes")) return *bytes;
  if (auto const row_bytes = count_of("row_bytes"))
    return *row_bytes * count_of("rows").value_or(1) * count_of("slices").value_or(1);
  std::uint64_t const count = count_of("count").value_or(0);
  return call.starts_with("memset_d32") ? 4 * count : count;
}

}}}  // namespace tracing::v1::internal
