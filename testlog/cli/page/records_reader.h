// read_records(): reads a recording for the page.
#pragma once

#include <memory>

#include "testlog/cli/page/page_records.h"
#include "testlog/cli/recordings.h"

namespace testlog::cli::page {

/// Reads the lines that `testlog show --report lines` prints of a recording, and its spans.
std::unique_ptr<PageRecords> read_records(OpenedRecording& file);

}  // namespace testlog::cli::page
