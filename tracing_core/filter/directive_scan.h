// Declares how a filter text is cut into directives, and a field list into fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tracing::inline v1::internal {

/// A part of a text, by its place.
struct Slice {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Cuts a filter text at the commas between directives. Each slice is without blanks around it; none is empty.
std::vector<Slice> split_directives(std::string_view text);

/// Where the field list ends whose `{` stands at `open`: at the first `}` outside nested braces and quotes of a value
/// and not behind a backslash there; where there is none, at the very first; npos where there is none either.
std::size_t field_list_end(std::string_view text, std::size_t open);

/// Cuts the inside of a field list at the commas outside brackets and quotes. Blanks behind a comma do not count.
std::vector<Slice> split_fields(std::string_view list);

/// What remains of the slice without the blanks around it.
Slice trim(std::string_view text, Slice slice) noexcept;

}  // namespace tracing::inline v1::internal
