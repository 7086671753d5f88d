// Reads what NVTX calls pass: structures of any version and size, wide text.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>
#include <string_view>

#include "tracing_core/bridge/nvtx/received_ranges.h"

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {

// Returns the beginning of a text, at most 4096 bytes, so that a text without an end is read no further; a text without
// data if it is null.
std::string_view bounded(char const* text) noexcept;
// Returns wide text as UTF-8. Throws std::bad_alloc.
std::string to_utf8(wchar_t const* text);

// Returns what the structure says, or nothing but the domain if it is null. Does not read past its `size`, and ignores
// types that this version of NVTX does not know. `storage` holds a text that had to be converted.
RangeData read_attributes(Domain const& domain, nvtxEventAttributes_t const* attributes, std::string& storage);

}}}}  // namespace tracing::v1::bridge::nvtx
