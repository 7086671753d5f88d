// File names made of names that may have any character, such as those of tests.
#pragma once

#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// A file name for each name: different names have different ones. `/` and control characters become `_`, and more than 160 bytes
/// are cut; such a name ends with `~` and a hash of all of it, as does one that looks as if it had a hash.
std::string file_name_of(std::string_view name);

}  // namespace tracing::inline v1::internal
