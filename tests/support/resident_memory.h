// Measures the memory of this process, for tests that check that something does not grow.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace tracing_test {

/// Returns the resident memory in KiB.
inline std::size_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

}  // namespace tracing_test
