// ctests_of(): the slots in which each ctest ran its tests, and the chain of tests that bounds the run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testlog/cli/timeline/process_links.h"
#include "testlog/cli/timeline/timeline_process.h"

namespace testlog::cli {

/// What one ctest ran. A process alone, which no ctest started, is a run of its own.
struct CtestRun {
  /// What ctest -j runs at a time: indices of processes, in the order in which they ran.
  using Slot = std::vector<std::size_t>;

  std::string run{};      ///< the id of the ctest
  std::string machine{};  ///< empty: not known
  Instant begin{}, end{};
  std::vector<Slot> slots{};

  std::size_t test_count() const noexcept;
  std::int64_t duration_ns() const noexcept { return end.ns - begin.ns; }
};

/// Returns the runs, the run that ended last first. A process goes into the first slot that is free when it begins, so
/// there are as many slots as processes ran at once. Processes that other processes of their run started are in no
/// slot.
std::vector<CtestRun> ctests_of(std::vector<TimelineProcess> const& processes, std::vector<ProcessLink> const& links,
                                MachineNames const& machines);

/// Returns the tests that bound a run, in the order in which they ran: from the test that ended last, each time the
/// test before whose end it waited, which is the last one to end before it began.
std::vector<std::size_t> critical_chain(CtestRun const& run, std::vector<TimelineProcess> const& processes);

/// Returns how long a slot ran no test between the beginning and the end of the run.
std::int64_t idle_ns(CtestRun const& run, CtestRun::Slot const& slot, std::vector<TimelineProcess> const& processes);

}  // namespace testlog::cli
