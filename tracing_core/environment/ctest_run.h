// What a process can know of the run of ctest that it is part of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

/// When the ctest began that writes, or wrote, the log in this folder, `<build>/Testing/Temporary`: when that file was made,
/// since each run makes a new one. None if there is no log or the file system does not know.
std::optional<Instant> start_of_ctest(std::filesystem::path const& temporary);

/// Empties a regular file that was last written before `time`. Processes that do so at once take turns, so that none
/// removes what another one has just written.
void empty_if_older(std::string const& path, Instant time) noexcept;

}  // namespace tracing::inline v1::internal
