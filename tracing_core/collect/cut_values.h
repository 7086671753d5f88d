// Declares how values too large to be kept are kept in part.
#pragma once

#include <cstddef>

#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1::internal {

/// Cuts what the values of the one group in `values` point to, each to at most `most_bytes` of its text, whose last character
/// is whole, and appends how much it was: `"the first of i... (1048576 bytes)"`. Bytes and errors become text. Leaves the
/// values as they are where memory ran out.
void cut_values(StoredValues& values, Metadata const& metadata, std::size_t most_bytes) noexcept;

}  // namespace tracing::inline v1::internal
