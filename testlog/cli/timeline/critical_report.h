// report_critical(): prints which tests bound a run.
#pragma once

#include <cstddef>

#include "testlog/cli/commands.h"
#include "testlog/cli/selection.h"

namespace testlog::cli {

/// Prints, of the run that ended last, the chain of tests that bounds it and its slots, and a line for each other run,
/// such as the shards of a farm. Of a chain with more than `top` tests, prints the `top` longest. Reports clocks that
/// differ. Throws as read_timeline() does.
Status report_critical(Inputs const& inputs, std::size_t top);

}  // namespace testlog::cli
