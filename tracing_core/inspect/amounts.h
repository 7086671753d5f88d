// Durations and sizes as short text for tables.
#pragma once

#include <cstdint>
#include <string>

namespace tracing::inline v1::internal {

/// `850 ns`, `12.3 us`, `1.204 ms` or `12.345 s`.
std::string text_of_ns(std::uint64_t ns);

/// `512 B`, `12.5 KiB`, `1.5 MiB` or `3.2 GiB`.
std::string text_of_bytes(std::uint64_t bytes);

/// What follows the name of spans of which so many did not end: nothing, ` (open)` or ` (3 open)`.
std::string text_of_open(std::uint64_t count);

}  // namespace tracing::inline v1::internal
