// padded_to_word(): rounds a size up to whole words of 8 bytes.
#pragma once

#include <cstddef>

namespace tracing { inline namespace v1 { namespace internal {

/// Returns the next multiple of 8 bytes, the size of a word.
constexpr std::size_t padded_to_word(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}}}  // namespace tracing::v1::internal
