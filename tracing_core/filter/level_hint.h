// level_hint(): what was probably meant by an invalid level.
#pragma once

#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// The hint of an error about `text`, which is not a level.
std::string level_hint(std::string_view text);

}  // namespace tracing::inline v1::internal
