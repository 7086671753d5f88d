// inflated(): reads a recording that was compressed by gzip.
#pragma once

#include <memory>
#include <string>

#include "tracing_core/record/decode/recording_parts.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Returns true if the source begins as a file of gzip does.
bool is_gzip(RecordingSource const& source) noexcept;

/// Returns the source of the recording in a `.rec.gz`. It decompresses as far as somebody reads, and keeps what it
/// decompressed, without pages of zeros: memory is proportional to the records. It ends where the input is cut off or
/// damaged, or has more than the recording's header allows; problem() then says so. Returns null, and `error` says why,
/// if this library was built without zlib or memory ran out.
std::unique_ptr<RecordingSource> inflated(std::unique_ptr<RecordingSource> compressed, std::string& error);

}}}  // namespace tracing::v1::recording
