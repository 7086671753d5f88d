// Durations and sizes as short text for tables.
#pragma once

#include <cstdint>
#include <string>

namespace tracing::inline v1::internal {

/// `850 ns`, `12.3 us`, `1.204 ms` or `12.345 s`.
std::string text_of_ns(std::uint64_t ns);

/// `512 B`, `12.5 KiB`, `1.5 MiB` or `3.2 GiB`.
std::string text_of_bytes(std::uint64_t bytes);

/// What follows the name of spans of which so many did not end, and of so many the beginning was overwritten: nothing,
/// ` (open)`, ` (3 open)`, ` (cut)`, ` (3 open, 1 cut)`.
std::string text_of_partial(std::uint64_t open, std::uint64_t cut);

}  // namespace tracing::inline v1::internal
