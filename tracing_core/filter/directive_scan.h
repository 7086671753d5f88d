// Splits a filter text into directives, and a field list into fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tracing::inline v1::internal {

/// A part of a text.
struct Slice {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Splits a filter text at the commas between directives. Slices are trimmed and not empty.
std::vector<Slice> split_directives(std::string_view text);

/// The index of the `}` that closes the field list opened at `open`: the first one outside of nested braces and quotes
/// of a value that no backslash precedes; if there is none, the first one; npos if there is no `}`.
std::size_t field_list_end(std::string_view text, std::size_t open);

/// Splits the inside of a field list at the commas outside of brackets and quotes. Ignores white space after a comma.
std::vector<Slice> split_fields(std::string_view list);

/// The slice without leading and trailing white space.
Slice trim(std::string_view text, Slice slice) noexcept;

}  // namespace tracing::inline v1::internal
