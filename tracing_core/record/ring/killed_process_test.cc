// Processes that are killed while their threads record: what was complete is in the file, and nothing else.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/campaign.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/ring/recording_child.h"

namespace tracing_test { namespace {

// On a busy machine a child may need longer than it is given below.
void wait_for_a_record(Progress const& progress) {
  constexpr int kMaxWaits = 20'000;  // some 20 s
  auto const has_recorded = [&progress] {
    return std::ranges::any_of(progress.threads, [](auto const& thread) { return thread.done.load() > 0; });
  };
  for (int i = 0; i < kMaxWaits && !has_recorded(); ++i) usleep(1000);
}

TEST(KilledProcess, LeavesEveryCompleteRecordAndNothingElse) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "a forked child that makes threads";
  TemporaryFolder const folder;
  SharedProgress shared;
  std::minstd_rand random(7);
  std::size_t records = 0;
  int const rounds = campaign(1000, 40);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    int const threads = 2 + i * 7 % 31;
    bool const may_lose = i % 3 != 0;
    Progress& progress = shared.start(i % 2 == 0 ? 20 : 3000);
    std::string const path = folder / (std::to_string(i) + ".rec");
    pid_t const child = fork();
    if (child == 0) {
      (void)start_recording(path, may_lose ? std::size_t{1} << 20 : kNeverFull);
      start_busy_threads(threads, progress);
      for (;;) pause();
    }
    if (i % 4 == 0) wait_for_a_record(progress);
    usleep(2000 + static_cast<useconds_t>(random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    SCOPED_TRACE("round " + std::to_string(i));
    records += expect_complete(path, may_lose, progress);
    unlink(path.c_str());
  }
  EXPECT_GT(records, 0u);
}

}}  // namespace tracing_test
