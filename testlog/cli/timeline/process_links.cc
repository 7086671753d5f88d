#include "testlog/cli/timeline/process_links.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "testlog/cli/run_marks.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/format/amounts.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli {
namespace {

using tracing::environment::TraceIds;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;

// The processes that were started, by the id of the span that started them.
using Started = std::unordered_multimap<std::uint64_t, std::size_t>;

Started started_by(std::vector<TimelineProcess> const& processes) {
  Started started;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (processes[i].identity.traceparent.empty()) continue;
    if (auto const parent = TraceIds(processes[i].identity).parent()) started.emplace(parent->span, i);
  }
  return started;
}

// Finds what a process started.
class Finder {
 public:
  Finder(Started& started, std::vector<ProcessLink>& links) : started_(started), links_(links) {}

  void add(std::vector<TimelineProcess> const& processes, std::size_t index) {
    TimelineProcess const& process = processes[index];
    std::string error;
    auto const recording = process.path.empty() ? nullptr : Recording::read_file(process.path, error);
    if (recording == nullptr) return;
    TraceIds const ids(process.identity);
    // All processes of a run of tests have one root, which therefore names no process.
    if (process.run.empty())
      add(ids.root(), {.parent = index, .name = process.name, .begin = Instant{process.identity.start_ns}});
    recording->for_each([&](Entry const& entry) {
      bool const begins = begins_span(entry.type);
      if (tracing::recording::is_test_begin(entry))
        add(ids.around(entry.tag), {.parent = index, .tag = entry.tag, .name = test_of(entry), .begin = entry.time});
      if ((!begins && entry.type != EntryType::state) || !started_.contains(ids.span(entry.span))) return;
      add(ids.span(entry.span), {.parent = index,
                                 .span = entry.span,
                                 .name = std::string(entry.metadata == nullptr ? "" : entry.metadata->name()),
                                 .begin = entry.time,
                                 .begin_is_known = begins && !entry.is_restated()});
    });
  }

 private:
  void add(std::uint64_t id, ProcessLink link) {
    auto const [from, to] = started_.equal_range(id);
    for (auto at = from; at != to; ++at) {
      link.child = at->second;
      if (link.child != link.parent) links_.push_back(link);
    }
    started_.erase(from, to);
  }

  Started& started_;
  std::vector<ProcessLink>& links_;
};

}  // namespace

std::vector<ProcessLink> links_of(std::vector<TimelineProcess> const& processes) {
  std::vector<ProcessLink> links;
  Started started = started_by(processes);
  Finder finder(started, links);
  for (std::size_t i = 0; i < processes.size() && !started.empty(); ++i) finder.add(processes, i);
  return links;
}

std::string notes_on_clocks(std::string const& command, std::vector<TimelineProcess> const& processes,
                            std::vector<ProcessLink> const& links, MachineNames const& machines) {
  struct Skew {
    std::int64_t ns = 0;
    ProcessLink const* link = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Skew> skews;  // by the machines of the parent and the child
  for (ProcessLink const& link : links) {
    std::int64_t const ns = link.begin.ns - processes[link.child].identity.start_ns;
    if (ns <= 0 || !link.begin_is_known) continue;
    Skew& skew = skews[{machines.name_of(processes[link.parent]), machines.name_of(processes[link.child])}];
    if (ns > skew.ns) skew = {ns, &link};
  }
  std::string lines;
  for (auto const& [names, skew] : skews) {
    std::string const by = tracing::formatting::text_of_ns(static_cast<std::uint64_t>(skew.ns));
    lines += fmt::format("testlog {}: ", command);
    lines += names.first == names.second
                 ? fmt::format("the clock of {} was set back by at least {}", printable(names.second), by)
                 : fmt::format("the clock of {} is at least {} behind the clock of {}", printable(names.second), by,
                               printable(names.first));
    lines += fmt::format(": {} began before {}, which started it; times are as recorded\n",
                         printable(processes[skew.link->child].name), printable(skew.link->name));
  }
  return lines;
}

}  // namespace testlog::cli
