// Splits a filter text into directives, and a field list into fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tracing { inline namespace v1 { namespace internal {

/// A part of a text.
struct Slice {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Splits a filter text at the commas between directives. Slices are trimmed and not empty.
std::vector<Slice> split_directives(std::string_view text);

/// Returns the index of the `}` that closes the field list opened at `open`: the first `}` that is outside of nested
/// braces and of quotes in a value, and that no backslash precedes. If there is none, returns the first `}`; if there
/// is no `}` at all, npos.
std::size_t field_list_end(std::string_view text, std::size_t open);

/// Splits the inside of a field list at commas outside of brackets and quotes. Ignores white space after a comma.
std::vector<Slice> split_fields(std::string_view list);

/// Returns the slice without leading and trailing white space.
Slice trim(std::string_view text, Slice slice) noexcept;

}}}  // namespace tracing::v1::internal
