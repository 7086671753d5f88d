// brief_of(): the failures of a selection in few lines, for readers that pay for every line.
#pragma once

#include <string>

#include "testlog/cli/selection.h"

namespace testlog::cli {

/// Returns five lines for each cause of failures, at most ten of them, and the commands that tell more: at most
/// kMaxBriefBytes. Empty if no selected test failed. Reads the selected recordings, and compares each first failure of
/// a cause with passing runs. Throws as files_of() does.
std::string brief_of(Selection const& selection);

inline constexpr std::size_t kMaxBriefBytes = 8000;

}  // namespace testlog::cli
