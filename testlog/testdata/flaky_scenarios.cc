// Scenarios that fail now and then.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tracing_core/tracing.h"

namespace {

// Counts its runs in the file SCENARIO_COUNTER.
TEST(Flaky, FailsInEachThirdRun) {
  std::string const path = std::getenv("SCENARIO_COUNTER");
  int runs = 0;
  std::ifstream(path) >> runs;
  std::ofstream(path) << ++runs;
  TRACE_SPAN(info, "run", runs);
  EXPECT_NE(runs % 3, 0);
}

// Does what SCENARIO_STEPS says, and something else in each run.
TEST(Counted, Steps) {
  char const* const given = std::getenv("SCENARIO_STEPS");
  int const steps = given == nullptr ? 1 : std::atoi(given);
  TRACE_SPAN(info, "reduce");
  for (int i = 0; i < steps; ++i) TRACE_DEBUG("copied", tracing::kv("bytes", 1 << 20), tracing::kv("rows", 10));
  std::string const path = std::getenv("SCENARIO_COUNTER");
  int runs = 0;
  std::ifstream(path) >> runs;
  std::ofstream(path) << ++runs;
  for (int i = 0; i < runs; ++i) TRACE_TRACE("spun");
  EXPECT_LT(steps, 10);
}

// Finds a stale copy in each fourth run.
TEST(Stale, FailsInEachFourthRun) {
  std::string const path = std::getenv("SCENARIO_COUNTER");
  int runs = 0;
  std::ifstream(path) >> runs;
  std::ofstream(path) << ++runs;
  bool const is_stale = runs % 4 == 0;
  TRACE_SPAN(info, "request", runs);
  TRACE_DEBUG("found", is_stale);
  {
    TRACE_SPAN(debug, "load", tracing::kv("copies", is_stale ? 0 : 1));
    if (!is_stale) TRACE_DEBUG("loaded");
  }
  TRACE_DEBUG("answered", tracing::kv("status", is_stale ? 500 : 200));
  EXPECT_FALSE(is_stale);
}

struct Cleaner {
  ~Cleaner() { TRACE_SPAN(debug, "clean"); }
};

void parse(bool is_good) {
  TRACE_SPAN(debug, "parse");
  Cleaner const cleaner;
  tracing::Span const line = TRACE_MAKE_SPAN(debug, "line");
  auto const in_line = line.enter();
  TRACE_DEBUG("read");
  if (!is_good) throw std::runtime_error("no number");
  TRACE_DEBUG("parsed");
}

// Ends by an exception in each fourth run. In each run it catches another exception.
TEST(Parsed, ThrowsInEachFourthRun) {
  std::string const path = std::getenv("SCENARIO_COUNTER");
  int runs = 0;
  std::ifstream(path) >> runs;
  std::ofstream(path) << ++runs;
  TRACE_SPAN(info, "request", runs);
  try {
    TRACE_SPAN(debug, "probe");
    throw std::runtime_error("as expected");
  } catch (std::runtime_error const&) {
  }
  {
    TRACE_SPAN(info, "load");
    parse(runs % 4 != 0);
  }
  TRACE_DEBUG("answered");
}

}  // namespace
