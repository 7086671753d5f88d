#include "isolation.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <set>
#include <string>

namespace conformance { namespace {

std::string process(std::size_t) { return std::to_string(getpid()); }

TEST(RunIsolated, ReturnsAnswersInTheOrderOfTasks) {
  auto const outcomes =
      run_isolated(25, {.tasks_per_process = 3}, [](std::size_t task) { return std::to_string(task * task); });
  ASSERT_EQ(outcomes.size(), 25U);
  for (std::size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].answer, std::to_string(i * i));
}

TEST(RunIsolated, CanRunEachTaskInItsOwnProcess) {
  std::set<std::string> processes{process(0)};
  for (Outcome const& outcome : run_isolated(10, {.tasks_per_process = 1}, process)) processes.insert(outcome.answer);
  EXPECT_EQ(processes.size(), 11U);
}

TEST(RunIsolated, ReceivesAnswersLargerThanAPipe) {
  std::string const large(1'000'000, 'x');
  auto const outcomes = run_isolated(4, {.tasks_per_process = 2}, [&](std::size_t) { return large; });
  for (Outcome const& outcome : outcomes) EXPECT_EQ(outcome.answer, large);
}

TEST(RunIsolated, LosesOneTaskIfAProcessDies) {
  auto const outcomes = run_isolated(5, {.tasks_per_process = 5}, [](std::size_t task) -> std::string {
    if (task == 1) {
      signal(SIGTERM, SIG_DFL);
      raise(SIGTERM);
    }
    if (task == 3) _exit(7);
    return "answer";
  });
  EXPECT_EQ(outcomes[1].death, "killed by signal 15 (Terminated)");
  EXPECT_EQ(outcomes[3].death, "ended with exit status 7");
  for (std::size_t const i : {0, 2, 4}) {
    EXPECT_EQ(outcomes[i].answer, "answer");
    EXPECT_EQ(outcomes[i].death, "");
  }
}

TEST(RunIsolated, LosesOneTaskIfAProcessHangs) {
  auto const outcomes = run_isolated(3, {.tasks_per_process = 3, .timeout = std::chrono::milliseconds(300)},
                                     [](std::size_t task) -> std::string {
                                       while (task == 1) pause();
                                       return "answer";
                                     });
  EXPECT_EQ(outcomes[0].answer, "answer");
  EXPECT_EQ(outcomes[1].death, "no answer within 300 ms");
  EXPECT_EQ(outcomes[2].answer, "answer");
}

}}  // namespace conformance
