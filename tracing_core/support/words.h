// padded_to_word(): rounds a size up to whole words of 8 bytes.
#pragma once

#include <cstddef>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns the next multiple of 8 bytes, the size of a word.
constexpr std::size_t padded_to_word(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}}}  // namespace tracing::v1::support
