// copy_used(): copies a recording without its unused chunks.
#pragma once

#include <functional>
#include <string_view>

#include "tracing_core/record/decode/recording_parts.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Passes to `out` an equivalent recording: it ends after the last chunk that was ever used, and has zeros in place of
/// the bytes of a chunk that readers ignore. Takes time for the used chunks, not for holes after them. Returns false if
/// the source is not a recording.
bool copy_used(RecordingSource const& source, std::function<void(std::string_view)> const& out);

}}}  // namespace tracing::v1::recording
