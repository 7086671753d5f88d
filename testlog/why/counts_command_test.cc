// `testlog counts`: what tests do, in numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace testlog::why { namespace {

using testdata::Outcome;
using testdata::run_command;
using testing::HasSubstr;
using testing::Not;

// What a program does with kernels.
struct Work {
  int compilations = 1;
  int mebibytes = 4;
  bool falls_back = true;
  int spins = 0;
};

void reduce(Work const& work) {
  TRACE_SPAN(info, "reduce");
  for (int i = 0; i < work.compilations; ++i) {
    TRACE_SPAN(debug, "compile");
  }
  TRACE_DEBUG("copied {}", "input", tracing::kv("bytes", work.mebibytes << 20));
  if (work.falls_back) TRACE_DEBUG("fallback");
  for (int i = 0; i < work.spins; ++i) TRACE_TRACE("spun");
}

class CountsCommand : public testing::Test {
 protected:
  // Records tests of the same work.
  std::string record(std::string const& name, Work const& work, std::string const& result = "passed") {
    TestRecorder recorder(folder_ / name);
    for (std::string const test : {"Reduce.Large", "Reduce.Small", "Reduce.Tiny"}) {
      recorder.run(test, [&] {
        reduce(work);
        return result;
      });
    }
    return folder_ / name;
  }
  static Outcome counts(std::vector<std::string> const& arguments) { return run_command("counts", arguments); }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(CountsCommand, WritesSortedNumbersWithoutThoseThatVary) {
  Outcome const outcome = counts({record("1.rec", {.spins = 3}), record("2.rec", {.spins = 5})});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  tracing::testing::expect_approved("counts.txt", outcome.out);
}

TEST_F(CountsCommand, SaysWhatAChangeDoes) {
  std::string const file = folder_ / "main.counts";
  EXPECT_EQ(counts({"-o", file, record("1.rec", {.spins = 3}), record("2.rec", {.spins = 5})}).exit_code, 0);
  Outcome const same = counts({"--against", file, record("3.rec", {.spins = 9})});
  EXPECT_EQ(same.out + same.err, "");
  EXPECT_EQ(same.exit_code, 0);
  Outcome const outcome =
      counts({"--against", file, record("4.rec", {.compilations = 3, .mebibytes = 12, .falls_back = false})});
  EXPECT_EQ(outcome.exit_code, 1);
  tracing::testing::expect_approved("counts_differences.txt",
                                    std::regex_replace(outcome.out + outcome.err, std::regex(folder_ / ""), ""));
}

TEST_F(CountsCommand, AddsUpChosenFields) {
  std::string const file = record("1.rec", {});
  EXPECT_THAT(counts({file}).out, HasSubstr("\tbytes\t4194304\n"));
  EXPECT_THAT(counts({file, "--sum", "rows,size"}).out, Not(HasSubstr("\tbytes\t")));
}

TEST_F(CountsCommand, ExplainsMistakes) {
  std::string const green = record("green.rec", {});
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {record("red.rec", {}, "failed")},
           {green, "--against", folder_ / "missing.counts"},
           {green, "--against", folder_.write("other.counts", "hello\n")},
           {green, "--against",
            folder_.write("bad.counts",
                          "# testlog counts 1: test, target, spans and message, what, number; ~: it varies\n"
                          "a\tb\tc\tcount\tmany\n")},
           {green, "--against", "x", "-o", "y"},
           {folder_ / "missing.rec"},
       }) {
    Outcome const outcome = counts(arguments);
    EXPECT_EQ(outcome.out, "");
    std::string message = "testlog counts";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    message += " -> " + std::to_string(outcome.exit_code) + "\n" + outcome.err + "\n";
    messages += std::regex_replace(message, std::regex(folder_ / ""), "");
  }
  tracing::testing::expect_approved("counts_mistakes.txt", messages);
}

}}  // namespace testlog::why
