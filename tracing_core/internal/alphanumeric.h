// Declares is_alphanumeric(), the letters and digits of all scripts.
#pragma once

namespace tracing::inline v1::internal {

/// Whether Unicode calls `c` alphabetic or numeric. One binary search beyond ASCII.
bool is_alphanumeric(char32_t c) noexcept;

}  // namespace tracing::inline v1::internal
