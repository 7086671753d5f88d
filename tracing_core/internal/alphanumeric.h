// is_alphanumeric(): letters and digits of all scripts.
#pragma once

namespace tracing::inline v1::internal {

/// True if Unicode classifies `c` as alphabetic or numeric. One binary search for characters outside ASCII.
bool is_alphanumeric(char32_t c) noexcept;

}  // namespace tracing::inline v1::internal
