// text_of_ns(): prints durations and sizes as short text for tables.
#pragma once

#include <cstdint>
#include <string>

namespace tracing { inline namespace v1 { namespace formatting {

/// Returns `850 ns`, `12.3 us`, `1.204 ms` or `12.345 s`.
std::string text_of_ns(std::uint64_t ns);

/// Returns `512 B`, `12.5 KiB`, `1.5 MiB` or `3.2 GiB`.
std::string text_of_bytes(std::uint64_t bytes);

/// Returns a suffix for the name of a group of spans: `open` spans did not end, and the beginning of `cut` spans was
/// overwritten. Empty if both are 0; otherwise such as ` (open)`, ` (3 open)`, ` (cut)`, ` (3 open, cut)`.
std::string text_of_partial(std::uint64_t open, std::uint64_t cut);

}}}  // namespace tracing::v1::formatting
