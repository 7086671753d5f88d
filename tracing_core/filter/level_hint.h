// Declares what is said about a text that should be a level.
#pragma once

#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

inline constexpr std::string_view kInvalidLevel =
    "error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", \"trace\", or a "
    "number 0-5";

/// What would be right instead of `text`, which is no level.
std::string level_hint(std::string_view text);

}  // namespace tracing::inline v1::internal
