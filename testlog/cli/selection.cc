#include "testlog/cli/selection.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/filter/nearest.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/decode/tar_file.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSecond = 1'000'000'000;

// Removes the recordings of other runs. For the last run, reports how many recordings of earlier runs it removed.
void leave_out_other_runs(std::string const& command, RecordedRun const& run, std::vector<std::string>& files) {
  Attempts const attempts(run.folder);
  std::size_t const left_out = std::erase_if(files, [&](std::string const& file) {
    Attempts::Attempt const* const attempt = attempts.attempt_of(file);
    if (!run.has(start_of(file).value_or(time_written(file)))) return true;
    return attempt != nullptr && run.next_began == tracing::Instant{INT64_MAX} && attempts.is_superseded(*attempt);
  });
  bool const is_last = run.next_began == tracing::Instant{INT64_MAX};
  if (left_out == 0 || !is_last) return;
  report("testlog " + command + ": left out " + tracing::support::counted(left_out, "recording") +
         " of earlier runs of ctest; testlog " + command + " " + printable(run.folder.native()) + " has them\n");
}

}  // namespace

std::string similar_test(std::string const& name, std::vector<std::string_view> const& tests) {
  if (name.empty()) return {};
  std::string const near(tracing::internal::nearest(name, tests));
  if (!near.empty()) return near;
  auto const found =
      std::find_if(tests.begin(), tests.end(), [&name](std::string_view test) { return test.find(name) != test.npos; });
  return found == tests.end() ? "" : std::string(*found);
}

Inputs with_run(Inputs inputs) {
  if (inputs.paths.size() != 1 || !inputs.run.empty()) return inputs;
  std::string const& path = inputs.paths.front();
  bool const is_id = !path.empty() && path.front() != '-' && path.find_first_not_of("0123456789-") == path.npos;
  std::error_code error;
  if ((is_id || path == "latest") && !fs::exists(path, error)) inputs.run = std::exchange(inputs.paths, {}).front();
  return inputs;
}

void add_run(CLI::App& command, Inputs& inputs) {
  command
      .add_option("-R,--run", inputs.run,
                  "The recordings of a run: latest, the beginning of an id that testlog runs prints, or a TAR")
      ->default_str("latest");
}

void add_recordings(CLI::App& command, Inputs& inputs) {
  command.add_option("RECORDING", inputs.paths,
                     "The files, or folders or TARs of them, or a run as for --run; by default those that the last "
                     "ctest below this folder left");
  add_run(command, inputs);
}

std::vector<CLI::Option*> add_selection(CLI::App& command, Selection& selection) {
  add_recordings(command, selection.inputs);
  return {command.add_option("--test", selection.tests, "Only these tests: names with * and ?, separated by :"),
          command.add_flag("--failed", selection.failed, "Only tests that failed or did not end")};
}

// Adds the recordings in a TAR. If the TAR is damaged, these are the recordings before the damage, and then the TAR
// itself, for which open_recording() tells what is wrong.
static void add_tar(std::string const& command, std::string const& path, std::vector<std::string>& files) {
  std::string problem;
  auto found = tracing::recording::recordings_in_tar(path, problem);
  if (!problem.empty()) found.push_back(path);
  if (found.empty())
    throw std::runtime_error(command + ": " + printable(path) + " has no recordings (*.rec, *.rec.gz)");
  files.insert(files.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

void check_output(std::string const& command, std::vector<std::string> const& files, std::string const& output,
                  bool may_replace_tar) {
  bool const is_input = std::any_of(files.begin(), files.end(), [&output](std::string const& file) {
    return is_same_file(file, output) || is_same_file(tracing::recording::split_at_tar(file).tar, output);
  });
  std::error_code error;
  bool const is_tar = !may_replace_tar && tracing::recording::is_tar(output);
  if (is_input || (output != "-" && fs::is_regular_file(output, error) && (is_tar || start_of(output))))
    throw UsageError(command + ": the output would overwrite the recording " + output);
}

std::vector<std::string> files_of_run(std::string const& command, RecordedRun const& run) {
  std::error_code error;
  auto files = tracing::recording::recordings_in(run.folder.string(), tracing::recording::Folders::only_this, error);
  leave_out_other_runs(command, run, files);
  return files;
}

std::vector<std::string> files_of(std::string const& command, Inputs const& given) {
  Inputs const inputs = with_run(given);
  if (!inputs.run.empty() && !inputs.paths.empty())
    throw UsageError(command + ": --run selects a run; name no recording beside it");
  std::vector<std::string> all = inputs.paths;
  std::optional<RecordedRun> run;
  if (!inputs.run.empty() && tracing::recording::is_tar(inputs.run)) all = {inputs.run};
  if (all.empty()) {
    run = run_named(command, inputs.run.empty() ? "latest" : inputs.run);
    all = {run->folder.string()};
  }
  std::vector<std::string> files;
  for (std::string const& path : all) {
    std::error_code error;
    if (path.empty()) throw UsageError(command + ": an empty name; expected a file or a folder");
    if (tracing::recording::is_tar(path)) {
      add_tar(command, path, files);
      continue;
    }
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    using tracing::recording::Folders;
    auto found = run ? files_of_run(command, *run) : tracing::recording::recordings_in(path, Folders::only_this, error);
    if (found.empty() && run)
      throw std::runtime_error(command + (inputs.run.empty() ? ": the last ctest" : ": this run") +
                               " left no recordings in " + printable(path) + ": its tests passed, or recorded nothing");
    if (found.empty())
      throw std::runtime_error(command + ": " + printable(path) + " has no recordings (*.rec, *.rec.gz)");
    files.insert(files.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  std::vector<std::pair<tracing::Instant, std::string>> by_start;
  for (std::string& file : files) by_start.emplace_back(start_of(file).value_or(tracing::Instant{}), std::move(file));
  std::stable_sort(by_start.begin(), by_start.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::transform(by_start.begin(), by_start.end(), files.begin(), [](auto& one) { return std::move(one.second); });
  return files;
}

Progress::Progress(std::string const& command, std::size_t all, char const* unit, bool prints_result)
    : command_(command),
      all_(all),
      unit_(unit),
      is_wanted_(isatty(STDERR_FILENO) == 1 && !(prints_result && isatty(STDOUT_FILENO) == 1)),
      printed_ns_(tracing::Instant::now().ns) {}

void Progress::step(std::size_t count) {
  done_ += count;
  if (!is_wanted_ || tracing::Instant::now().ns - printed_ns_ < kSecond / 2) return;
  std::fprintf(stderr, "\rtestlog %s: %zu of %zu %s", command_.c_str(), done_, all_, unit_);
  printed_ns_ = tracing::Instant::now().ns;
  is_printed_ = true;
}

Progress::~Progress() {
  if (is_printed_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace testlog::cli
