#include "testlog/cli/timeline/perfetto_archive.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "testlog/cli/directive_notes.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/process_numbers.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/tar_writer.h"
#include "testlog/cli/terminal.h"
#include "testlog/cli/timeline/archive_members.h"
#include "testlog/cli/timeline/ctest_slots.h"
#include "testlog/cli/timeline/process_links.h"
#include "testlog/cli/timeline/timeline_process.h"
#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/decode/tar_file.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using tracing::recording::PerfettoPackets;
using tracing::recording::ProcessArrows;
using tracing::support::counted;

constexpr char kManifest[] = "perfetto_manifest.json";
constexpr std::size_t kMaxNoted = 50;  // recordings of which notes are printed

void print(std::string const& text) { report("testlog export: " + text + "\n"); }

// Returns the recordings that are written: of tests that failed, and of the slowest tests.
std::vector<std::size_t> chosen_of(std::vector<TimelineProcess> const& processes, std::size_t top) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (!processes[i].path.empty()) chosen.push_back(i);
  if (top == 0 || chosen.size() <= top) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(), [&processes](std::size_t a, std::size_t b) {
    return std::tuple(processes[a].has_failed(), processes[a].duration_ns()) >
           std::tuple(processes[b].has_failed(), processes[b].duration_ns());
  });
  print("the TAR has " + std::to_string(top) + " of " + std::to_string(chosen.size()) +
        " recordings: those of tests that failed, and then of those that took longest; --top selects more");
  chosen.resize(top);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The processes in each file of the TAR. Viewers draw arrows only within a file, so a process is in the file of the
// process that started it, if both are on one machine.
class FileGroups {
 public:
  FileGroups(std::size_t count, std::vector<std::size_t> const& chosen) : first_(count), is_chosen_(count) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    for (std::size_t const index : chosen) is_chosen_[index] = true;
  }
  bool is_chosen(std::size_t index) const { return is_chosen_[index]; }
  void join(std::size_t a, std::size_t b) {
    std::size_t const first = first_of(a), other = first_of(b);
    first_[std::max(first, other)] = std::min(first, other);
  }
  bool are_together(std::size_t a, std::size_t b) { return first_of(a) == first_of(b); }
  // Returns the processes of each file, by its first process.
  std::map<std::size_t, std::vector<std::size_t>> all() {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < first_.size(); ++i)
      if (is_chosen_[i]) groups[first_of(i)].push_back(i);
    return groups;
  }

 private:
  std::size_t first_of(std::size_t index) {
    while (first_[index] != index) index = first_[index] = first_[first_[index]];
    return index;
  }

  std::vector<std::size_t> first_;
  std::vector<bool> is_chosen_;
};

// Returns the traces that CMake 4.3 writes of building and testing, if the project lets it.
std::vector<fs::path> cmake_traces(std::string const& build_folder) {
  std::vector<fs::path> found;
  if (build_folder.empty()) return found;
  std::error_code error;
  for (auto at = fs::directory_iterator(fs::path(build_folder) / ".cmake/instrumentation/v1/data/trace", error);
       !error && at != fs::directory_iterator(); at.increment(error))
    if (at->path().extension() == ".json") found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

class ArchiveWriter {
 public:
  ArchiveWriter(ArchiveOptions const& options, Timeline const& timeline)
      : options_(options), timeline_(timeline), directives_("export", options.filter) {}

  Status write();

 private:
  struct Member : ArchiveMember {
    std::vector<std::size_t> processes{};  // of the recordings in it
    CtestRun const* slots = nullptr;       // the run whose slots it shows
    fs::path file{};                       // that is copied
  };

  void plan();
  void add_member(Member member, std::string const& name, char const* suffix = ".pftrace");
  std::optional<std::string> content_of(Member const& member);
  std::string trace_of(CtestRun const& run);
  bool add_trace_of(std::size_t index, std::string& trace);
  tracing::recording::TraceSource source_of(OpenedRecording& file, std::size_t index);
  Instant begin_of(Member const& member) const;
  void report_notes(OpenedRecording const& file);

  ArchiveOptions const& options_;
  Timeline const& timeline_;
  DirectiveNotes directives_;
  OutputLimit limit_;
  MemberNames names_;
  std::vector<std::string> machines_;  // of the processes
  std::vector<CtestRun> runs_;
  std::vector<Member> members_;
  std::map<std::string, ProcessNumbers> numbers_;  // by machine
  std::map<std::size_t, ProcessArrows> arrows_;    // by process
  std::size_t noted_ = 0;
  std::size_t unrecorded_ = 0;  // processes in slots that left no recording
};

void ArchiveWriter::add_member(Member member, std::string const& name, char const* suffix) {
  member.path = names_.add(name, suffix);
  members_.push_back(std::move(member));
}

// Decides what the TAR has.
void ArchiveWriter::plan() {
  std::vector<TimelineProcess> const& processes = timeline_.processes;
  std::vector<std::size_t> const chosen = chosen_of(processes, options_.top);
  std::vector<ProcessLink> const links = links_of(processes);
  MachineNames const machines(processes);
  report(notes_on_clocks("export", processes, links, machines));
  for (TimelineProcess const& process : processes) machines_.push_back(machines.name_of(process));
  FileGroups groups(processes.size(), chosen);
  for (std::size_t i = 0; i < links.size(); ++i) {
    ProcessLink const& link = links[i];
    ProcessArrows& to = arrows_[link.child];
    to.started_by = "started by " + link.name;
    if (!groups.is_chosen(link.parent) || !groups.is_chosen(link.child)) continue;
    if (machines_[link.parent] != machines_[link.child] || (link.span == 0 && link.tag == 0)) continue;
    groups.join(link.parent, link.child);
    to.to_process = i + 1;
    ProcessArrows& from = arrows_[link.parent];
    (link.span != 0 ? from.from_spans[link.span] : from.from_tests[link.tag]).push_back(to.to_process);
  }
  runs_ = ctests_of(processes, links, machines);
  for (CtestRun const& run : runs_)
    if (run.test_count() > 1) add_member({{.machine = run.machine}, {}, &run, {}}, "slots");
  for (auto const& [first, group] : groups.all())
    add_member({{.machine = machines_[first]}, group, nullptr, {}}, processes[first].name);
  for (fs::path const& file : cmake_traces(timeline_.build_folder))
    add_member({{.clock_of = members_.front().path}, {}, nullptr, file}, "cmake-" + file.stem().string(), ".json");
}

// Shows the slots of a ctest as rows, with a slice for each test. Its category is the test's result.
std::string ArchiveWriter::trace_of(CtestRun const& run) {
  std::string trace;
  std::uint64_t const pid = std::max<std::uint64_t>(std::strtoull(run.run.c_str(), nullptr, 10), 1);
  std::string const name = "ctest " + run.run + (run.machine.empty() ? "" : " @ " + run.machine);
  PerfettoPackets packets({static_cast<std::int64_t>(numbers_[run.machine].add(pid)), name, run.begin},
                          [&trace](std::string_view bytes) { trace.append(bytes); });
  for (std::size_t i = 0; i < run.slots.size(); ++i) {
    std::uint64_t const row = packets.add_row("slot " + std::to_string(i + 1), static_cast<std::int64_t>(i));
    for (std::size_t const index : run.slots[i]) {
      TimelineProcess const& process = timeline_.processes[index];
      unrecorded_ += process.path.empty() ? 1 : 0;
      packets.add({PerfettoPackets::Type::begin, row, process.begin}, [&] {
        packets.category(summary::name(process.result));
        packets.name(process.name);
      });
      packets.add_end(row, process.end, [] {});
    }
  }
  packets.flush();
  return trace;
}

tracing::recording::TraceSource ArchiveWriter::source_of(OpenedRecording& file, std::size_t index) {
  tracing::recording::TraceSource source(*file.recording);
  std::string const& machine = machines_[index];
  source.pid = numbers_[machine].add(source.pid);
  source.process = timeline_.processes[index].name + (machine.empty() ? "" : " @ " + machine);
  source.filter = filter_of("export", options_.filter);
  source.each = [this, &file](tracing::recording::Entry const& entry) {
    limit_.check(file);
    file.learn(entry);
  };
  source.section_of = tracing::recording::test_of;
  return source;
}

void ArchiveWriter::report_notes(OpenedRecording const& file) {
  directives_.add(file);
  if (noted_ == kMaxNoted) return;
  std::string const notes = notes_of("export", file);
  report(notes);
  noted_ += notes.empty() ? 0 : 1;
}

bool ArchiveWriter::add_trace_of(std::size_t index, std::string& trace) {
  auto const file = open_recording("export", timeline_.processes[index].path);
  if (file == nullptr) return false;
  limit_.add(*file);
  tracing::recording::write_perfetto(
      source_of(*file, index),
      [&](std::string_view packets) {
        limit_.spend(packets.size());
        trace.append(packets);
      },
      std::move(arrows_[index]));
  report_notes(*file);
  return true;
}

// Returns nothing if a file could not be read.
std::optional<std::string> ArchiveWriter::content_of(Member const& member) {
  if (member.slots != nullptr) return trace_of(*member.slots);
  std::string content;
  if (member.processes.empty()) {
    std::ifstream file(member.file, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.bad() && !content.empty()) return content;
    print("cannot read " + printable(member.file.native()));
    return std::nullopt;
  }
  bool is_complete = true;
  for (std::size_t const index : member.processes) is_complete &= add_trace_of(index, content);
  return is_complete ? std::optional(std::move(content)) : std::nullopt;
}

Instant ArchiveWriter::begin_of(Member const& member) const {
  if (member.slots != nullptr) return member.slots->begin;
  return timeline_.processes[member.processes.empty() ? 0 : member.processes.front()].begin;
}

Status ArchiveWriter::write() {
  plan();
  OutputFile output(options_.output);
  TarWriter tar([&output](std::string_view bytes) { output.write(bytes); });
  tar.add(kManifest, perfetto_manifest_of({members_.begin(), members_.end()}), timeline_.processes.front().begin);
  bool is_complete = timeline_.is_complete;
  {
    Progress progress("export", members_.size(), "files", false);
    for (Member const& member : members_) {
      progress.step();
      auto const content = content_of(member);
      is_complete &= content.has_value();
      if (content) tar.add(member.path, *content, begin_of(member));
    }
  }
  tar.finish();
  if (std::error_code const error = output.finish()) {
    print("cannot write " + printable(options_.output) + ": " + error.message());
    return kFailed;
  }
  if (unrecorded_ > 0)
    print(counted(unrecorded_, "test") +
          " left no recording, so the timeline has only the slot; after TRACE_RECORD_KEEP=all ctest, all tests leave "
          "one");
  report(note_on_passed("export", timeline_) + directives_.lines());
  return is_complete ? kDone : kFailed;
}

}  // namespace

bool is_perfetto_archive(std::string const& path) {
  auto const tar = tracing::recording::open_tar(path);
  std::string problem;
  return tar != nullptr && tar->members().contains(kManifest) &&
         tracing::recording::recordings_in_tar(path, problem).empty();
}

Status export_perfetto_archive(ArchiveOptions const& options) {
  (void)parsed_filter("export", options.filter);
  Timeline const timeline = read_timeline("export", options.inputs);
  std::vector<std::string> files;
  for (TimelineProcess const& process : timeline.processes)
    if (!process.path.empty()) files.push_back(process.path);
  check_output("export", files, options.output, is_perfetto_archive(options.output));
  if (timeline.processes.empty()) {
    if (timeline.is_complete) print("there are no recordings");
    return kFailed;
  }
  return ArchiveWriter(options, timeline).write();
}

}  // namespace testlog::cli
