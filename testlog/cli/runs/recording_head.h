// start_of(): reads when a recording began, without the rest of it.
#pragma once

#include <optional>
#include <string>

#include "tracing_core/model/instant.h"

namespace testlog::cli {

/// Returns when a recording began; nothing if it cannot be read.
std::optional<tracing::Instant> start_of(std::string const& file);

}  // namespace testlog::cli
