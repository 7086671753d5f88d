// compress_used(): compresses a recording without its unused chunks.
#pragma once

#include <functional>
#include <string_view>

#include "tracing_core/record/decode/recording_parts.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Passes to `out`, in pieces, the bytes of a `.rec.gz` that decompress to what copy_used() copies. Most of a short
/// recording is zeros, which are written without zlib, in a third of the time. A recording of full chunks becomes some
/// 4 % larger than with zlib alone. Returns false if the source is not a recording, if memory ran out, or if this
/// library was built without zlib; then `out` may have got the beginning of a file.
bool compress_used(RecordingSource const& source, std::function<void(std::string_view)> const& out);

}}}  // namespace tracing::v1::recording
