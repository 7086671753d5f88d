// build_page(): chooses the tests whose records a page has, and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "testlog/cli/page/page_writer.h"
#include "testlog/cli/page/run_tests.h"

namespace testlog::cli::page {

struct PageLimits {
  std::size_t max_bytes = std::size_t{25} << 20;  ///< of the page; the longest tests lose their middle
  bool all = false;                               ///< the records of every test
};

struct PageCounts {
  std::size_t whole = 0;    ///< tests with records
  std::size_t cut = 0;      ///< runs that lost their middle
  bool is_complete = true;  ///< all recordings could be read
};

/// Writes the page. Has one recording in memory at a time, and all compressed records.
PageCounts build_page(RunTests const& tests, PageLimits const& limits, PageWriter::Out out);

}  // namespace testlog::cli::page
