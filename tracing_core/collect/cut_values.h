// cut_values(): shortens values that are too large to be stored.
#pragma once

#include <cstddef>

#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1::internal {

/// Cuts each text, bytes value and error in the only group of `values` to at most `max_bytes`, at the end of a
/// character, and appends its original size: `"the first of i... (1048576 bytes)"`. Bytes and errors become text.
/// Leaves the values unchanged if memory runs out.
void cut_values(StoredValues& values, Metadata const& metadata, std::size_t max_bytes) noexcept;

}  // namespace tracing::inline v1::internal
