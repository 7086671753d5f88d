// nearest(): the name that was probably meant. level_hint(): the same for a level.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// The number of insertions, deletions, replacements and swaps of adjacent bytes that turn one name into the other.
/// Ignores ASCII case, and bytes after the first 64.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept;

/// The candidate that is nearest to `name`; an empty view if even that one is too far away. The largest distance is a
/// third of the name's length, but at least 1 and at most 4.
std::string_view nearest(std::string_view name, std::span<std::string_view const> candidates) noexcept;

/// The level that is nearest to `text`, by nearest().
std::string_view nearest_level(std::string_view text) noexcept;
/// The hint of an error about `text`, which is not a level.
std::string level_hint(std::string_view text);

}  // namespace tracing::inline v1::internal
