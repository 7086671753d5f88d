#include "testlog/cli/timeline/critical_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testlog/cli/terminal.h"
#include "testlog/cli/timeline/ctest_slots.h"
#include "testlog/cli/timeline/process_links.h"
#include "testlog/cli/timeline/timeline_process.h"
#include "tracing_core/format/amounts.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using Processes = std::vector<TimelineProcess>;
using tracing::support::counted;

std::string time_of(std::int64_t ns) {
  return tracing::formatting::text_of_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

std::string name_of(TimelineProcess const& process) {
  bool const is_usual = process.result == summary::Result::passed;
  return printable(process.name) + (is_usual ? "" : " (" + std::string(summary::name(process.result)) + ")");
}

std::int64_t idle_of(CtestRun const& run, Processes const& processes) {
  std::int64_t idle = 0;
  for (CtestRun::Slot const& slot : run.slots) idle += idle_ns(run, slot, processes);
  return idle;
}

void print_run(CtestRun const& run, Processes const& processes) {
  std::int64_t const all = run.duration_ns() * static_cast<std::int64_t>(run.slots.size());
  std::int64_t const idle = idle_of(run, processes);
  fmt::print("run {}{}{}: {} in {}, {}, idle for {} ({}%)\n", printable(run.run), run.machine.empty() ? "" : " on ",
             printable(run.machine), counted(run.test_count(), "test"), time_of(run.duration_ns()),
             counted(run.slots.size(), "slot"), time_of(idle), all == 0 ? 0 : idle * 100 / all);
}

// Returns the longest `top` tests of a chain, in its order.
std::vector<bool> longest_of(std::vector<std::size_t> const& chain, Processes const& processes, std::size_t top) {
  std::vector<bool> is_long(chain.size(), true);
  if (chain.size() <= top) return is_long;
  std::vector<std::int64_t> durations;
  for (std::size_t const index : chain) durations.push_back(processes[index].duration_ns());
  std::sort(durations.begin(), durations.end(), std::greater<>());
  std::size_t left = top;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    is_long[i] = left > 0 && processes[chain[i]].duration_ns() >= durations[top - 1];
    left -= is_long[i] ? 1 : 0;
  }
  return is_long;
}

void print_chain(CtestRun const& run, Processes const& processes, std::size_t top) {
  std::vector<std::size_t> const chain = critical_chain(run, processes);
  std::vector<bool> const is_long = longest_of(chain, processes, top);
  fmt::print("\n     began   duration     waited  test\n");
  Instant free = run.begin;  // when the test before ended
  for (std::size_t i = 0; i < chain.size(); ++i) {
    TimelineProcess const& process = processes[chain[i]];
    if (is_long[i])
      fmt::print("{:>10} {:>10} {:>10}  {}\n", time_of(process.begin.ns - run.begin.ns), time_of(process.duration_ns()),
                 time_of(process.begin.ns - free.ns), name_of(process));
    free = process.end;
  }
  std::size_t const left_out = static_cast<std::size_t>(std::count(is_long.begin(), is_long.end(), false));
  if (left_out > 0) fmt::print("... {} shorter (--top)\n", left_out);
}

void print_slots(CtestRun const& run, Processes const& processes) {
  fmt::print("\n      slot      tests       idle  at the end\n");
  for (CtestRun::Slot const& slot : run.slots) {
    fmt::print("{:>10} {:>10} {:>10} {:>11}\n", &slot - run.slots.data() + 1, slot.size(),
               time_of(idle_ns(run, slot, processes)), time_of(run.end.ns - processes[slot.back()].end.ns));
  }
}

}  // namespace

Status report_critical(Inputs const& inputs, std::size_t top) {
  Timeline const timeline = read_timeline("slow", inputs);
  Processes const& processes = timeline.processes;
  std::vector<ProcessLink> const links = links_of(processes);
  MachineNames const machines(processes);
  report(notes_on_clocks("slow", processes, links, machines) + note_on_passed("slow", timeline));
  std::vector<CtestRun> const runs = ctests_of(processes, links, machines);
  if (runs.empty()) {
    report("testlog slow: --critical needs recordings of test programs\n");
    return kFailed;
  }
  print_run(runs.front(), processes);
  print_chain(runs.front(), processes, top == 0 ? SIZE_MAX : top);
  print_slots(runs.front(), processes);
  if (runs.size() > 1) fmt::print("\nended before:\n");
  for (std::size_t i = 1; i < runs.size(); ++i) print_run(runs[i], processes);
  return flush_output("slow") && timeline.is_complete ? kDone : kFailed;
}

}  // namespace testlog::cli
