// Declares the hint about a text that should be a level.
#pragma once

#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// What would be right instead of `text`, which is no level.
std::string level_hint(std::string_view text);

}  // namespace tracing::inline v1::internal
