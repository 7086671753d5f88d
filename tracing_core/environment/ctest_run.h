// What a process can know of the run of ctest that it is part of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

/// The logs of ctest in this folder, `<build>/Testing/Temporary`: of runs that are over, and of one that is not, `.log.tmp`.
/// `ctest -T Test` puts the date of the run into the name and keeps earlier ones.
std::vector<std::filesystem::path> logs_of_ctest(std::filesystem::path const& temporary);

/// When the ctest began that writes, or wrote, the last of these logs: when that file was made, since each run makes a new
/// one. None if there is no log or the file system does not know.
std::optional<Instant> start_of_ctest(std::filesystem::path const& temporary);

/// Empties a regular file that was last written before `time`. Processes that do so at once take turns, so that none
/// removes what another one has just written.
void empty_if_older(std::string const& path, Instant time) noexcept;

}  // namespace tracing::inline v1::internal
