// Switches on long campaigns: a test of an exhaustive space runs a representative sample of it, and every case if the
// environment variable TESTLOG_CAMPAIGN is 1.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tracing_test {

/// Returns true if TESTLOG_CAMPAIGN=1: run every case, however long it takes.
inline bool full_campaign() {
  char const* const value = std::getenv("TESTLOG_CAMPAIGN");
  return value != nullptr && std::string_view(value) == "1";
}

/// Returns `full` in a full campaign, otherwise `sample`: a number of rounds or points, or a distance between them.
template <class Number>
Number campaign(Number full, Number sample) {
  return full_campaign() ? full : sample;
}

}  // namespace tracing_test
