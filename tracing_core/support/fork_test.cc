#include "tracing_core/support/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace {

using tracing::support::fork_count;
using tracing::support::ForkStage;
using tracing::support::set_fork_handler;

std::string calls;

struct SetHandlers {
  SetHandlers() {
    // The handlers are set last to first, yet are called in the order of the stages.
    set_fork_handler(ForkStage::spans, {[]() noexcept { calls += "s("; }, []() noexcept { calls += ")s"; },
                                        []() noexcept { calls += "]s"; }});
    set_fork_handler(ForkStage::session, {[]() noexcept { calls += "t("; }, []() noexcept { calls += ")t"; },
                                          []() noexcept { calls += "]t"; }});
  }
  ~SetHandlers() {
    set_fork_handler(ForkStage::spans, {});
    set_fork_handler(ForkStage::session, {});
  }
};

bool child_agrees(bool (*check)()) {
  pid_t const child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(Fork, RunsStagesInOrderBeforeAndInReverseAfter) {
  SetHandlers const set;
  calls.clear();
  EXPECT_TRUE(child_agrees([] { return calls == "t(s(]s]t"; }));
  EXPECT_EQ(calls, "t(s()s)t");
}

TEST(Fork, CountsForksInTheChildOnly) {
  static unsigned count;
  count = fork_count();
  EXPECT_TRUE(child_agrees([] { return fork_count() == count + 1; }));
  EXPECT_EQ(fork_count(), count);
}

TEST(Fork, SkipsMissingHandlers) {
  set_fork_handler(ForkStage::session, {nullptr, nullptr, nullptr});
  EXPECT_TRUE(child_agrees([] { return true; }));
}

TEST(Fork, LetsAChildSetHandlers) {
  EXPECT_TRUE(child_agrees([] {
    set_fork_handler(ForkStage::session, {});
    return true;
  }));
}

}  // namespace
