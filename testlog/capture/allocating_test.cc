// The program's allocation functions may have statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

#if !TESTLOG_ASAN && !TESTLOG_TSAN  // these replace the functions themselves
namespace testlog { namespace {

using testdata::Outcome;
using testdata::run;
using testdata::Variables;

// Ends a program that waits for itself after ten seconds.
Outcome allocate(std::vector<std::string> const& arguments, Variables const& variables) {
  std::vector<std::string> words{"/usr/bin/timeout", "10", TESTLOG_ALLOCATING};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(words, variables);
}

TEST(AllocationFunctions, MayHaveStatements) {
  tracing_test::TemporaryFolder const folder;
  Variables const all[] = {{},
                           {{"TRACE_FILTER", "trace"}},
                           {{"TRACE_FILTER", "[work]=trace"}, {"TRACE_CAPTURE", "info,allocating=trace"}},
                           {{"TRACE_CAPTURE", "off"}},
                           {{"TRACE_RECORD", folder / "run.rec"}},
                           {{"TRACE_CHROME", folder / "run.json"}, {"TRACE_FLAME", folder / "run.folded"}},
                           {{"TRACE_PERF", "summary"}},
                           {{"TRACE_SHOW", "all"}, {"TRACE_FORMAT", "json"}, {"TRACE_REDACT", "kind"}}};
  for (Variables const& variables : all) {
    for (std::vector<std::string> const& arguments : {std::vector<std::string>{}, {"init"}}) {
      Outcome const outcome = allocate(arguments, variables);
      EXPECT_EQ(outcome.exit_code, 0) << (variables.empty() ? "" : variables.front().first) << outcome.signal
                                      << outcome.err.substr(0, 2000);
    }
  }
}

TEST(AllocationFunctions, MayHaveErrorsThatFailTests) {
  Outcome const outcome = allocate({}, {{"TRACE_FAIL_ON", "warn"}});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.signal;
  EXPECT_THAT(outcome.out, testing::HasSubstr("The test recorded an event of level"));
}

}}  // namespace testlog
#endif
