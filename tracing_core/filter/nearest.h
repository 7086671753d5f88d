// Declares nearest(), which finds the name that somebody probably meant.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tracing::inline v1::internal {

/// Insertions, deletions, replacements and swaps of neighbours that turn one name into the other, by bytes and without
/// regard to ASCII case; names longer than 64 bytes are compared by their first 64.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept;

/// The candidate that is nearest to `name`, or an empty view where none is near enough to be meant: within a third of
/// the name's length, at least 1 and at most 4 edits.
std::string_view nearest(std::string_view name, std::span<std::string_view const> candidates) noexcept;

}  // namespace tracing::inline v1::internal
