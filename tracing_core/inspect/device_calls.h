// What spans of tracing::cuda say about the calls that they stand for.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Returns true if tracing::cuda recorded this about the host: for its caller or, if it does not know the caller, under
/// its own name.
inline bool is_of_cuda(Metadata const& metadata) noexcept {
  constexpr std::string_view kLibrary = "tracing::cuda";
  std::string_view const part = metadata.is_for_caller() ? metadata.module_path() : metadata.target();
  if (!part.starts_with(kLibrary)) return false;
  std::string_view const rest = part.substr(kLibrary.size());
  return rest.empty() || (rest.starts_with("::") && rest != "::device");
}

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
