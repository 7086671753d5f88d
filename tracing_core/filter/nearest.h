// nearest(): finds the name that was probably meant. level_hint(): does this for a level.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

/// Returns the number of insertions, deletions, replacements and swaps of adjacent bytes that turn one name into the
/// other. Ignores ASCII case, and bytes after the first 64.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept;

/// Returns the candidate that is nearest to `name`, or an empty view if all are too far away. The largest distance
/// allowed is a third of the name's length, but at least 1 and at most 4.
std::string_view nearest(std::string_view name, std::span<std::string_view const> candidates) noexcept;

/// Returns the level that is nearest to `text`, by nearest().
std::string_view nearest_level(std::string_view text) noexcept;
/// Returns the hint of an error about `text`, which is not a level.
std::string level_hint(std::string_view text);

}}}  // namespace tracing::v1::internal
