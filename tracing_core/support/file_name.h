// Makes file names of names that may contain any character, such as the names of tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns a file name for `name`; different names get different file names. Replaces `/` and control characters with
/// `_`, and cuts a name of more than `max_bytes`. A name changed in this way ends with `~` and a hash of the whole
/// name, and so does a name that already looks as if it ended with such a hash. The default leaves room for the
/// program's name and a suffix.
std::string file_name_of(std::string_view name, std::size_t max_bytes = 160);

/// Returns the FNV-1a hash of `text`. To continue the hash of earlier text, pass it as `hash`.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xCBF29CE484222325) noexcept;

}}}  // namespace tracing::v1::support
