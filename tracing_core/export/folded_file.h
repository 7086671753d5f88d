// Declares open_folded_file(), a file that lines of folded stacks are appended to.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include "tracing_core/export/line_sink.h"

namespace tracing::inline v1::internal {

// A sink for blocks of whole lines, one at a time. Made where it is not there and else appended to, behind a line that somebody
// broke off. The first write that fails is told on `complain_to`; nowhere where that is negative. Null, and `error` says why,
// where it cannot be opened.
std::shared_ptr<LineSink> open_folded_file(std::string const& path, int complain_to, std::error_code& error);

}  // namespace tracing::inline v1::internal
