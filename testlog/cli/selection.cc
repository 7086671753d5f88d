#include "testlog/cli/selection.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testlog/cli/commands.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/ring/layout.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 4;  // of build folders below the current folder
constexpr std::int64_t kSecond = 1'000'000'000;

// The recordings of the last ctest in a folder: where they are, and when it began and last recorded.
struct LastRun {
  fs::path folder;
  tracing::Instant began;
  tracing::Instant last;
};

tracing::Instant written(fs::path const& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return tracing::Instant{status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

// Returns the last run in a folder in which testlog_discover_tests() lets the tests of a build record. Without a log of
// runs, which earlier versions of testlog did not write, all recordings belong to this run.
LastRun last_run_in(fs::path const& folder) {
  if (auto const run = tracing::environment::RunLog(folder).last()) return {folder, run->began, run->last};
  return {folder, {}, written(folder)};
}

std::optional<LastRun> find_last_run() {
  std::optional<LastRun> newest;
  auto const look_at = [&](fs::path const& build) {
    std::error_code error;
    fs::path const folder = (build / "Testing" / "Temporary" / "testlog").lexically_normal();
    if (!fs::is_directory(folder, error)) return;
    LastRun run = last_run_in(folder);
    if (!newest || run.last > newest->last) newest = std::move(run);
  };
  look_at(".");
  std::error_code error;
  fs::recursive_directory_iterator at(".", fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (!at->is_directory(error) || at->is_symlink(error)) continue;
    look_at(at->path());
    bool const is_hidden = at->path().filename().native().starts_with(".");
    if (is_hidden || at.depth() >= kMaxDepth) at.disable_recursion_pending();
  }
  return newest;
}

// Removes recordings of earlier runs: of tests that the last run left out.
void leave_out_earlier_runs(std::string const& command, LastRun const& run, std::vector<std::string>& files) {
  std::size_t const left_out = std::erase_if(
      files, [&run](std::string const& file) { return start_of(file).value_or(written(file)) < run.began; });
  if (left_out == 0) return;
  report("testlog " + command + ": left out " + tracing::support::counted(left_out, "recording") +
         " of earlier runs of ctest; testlog " + command + " " + printable(run.folder.native()) + " has them\n");
}

}  // namespace

void add_recordings(CLI::App& command, std::vector<std::string>& paths) {
  command.add_option("RECORDING", paths,
                     "The files, or folders of them; by default those that the last ctest below this folder left");
}

std::vector<CLI::Option*> add_selection(CLI::App& command, Selection& selection) {
  add_recordings(command, selection.paths);
  return {command.add_option("--test", selection.tests, "Only these tests: names with * and ?, separated by :"),
          command.add_flag("--failed", selection.failed, "Only tests that failed or did not end")};
}

std::optional<tracing::Instant> start_of(std::string const& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;  // opening a FIFO would wait for a writer
  alignas(tracing::internal::RegionHeader) char bytes[sizeof(tracing::internal::RegionHeader)];
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(bytes, sizeof(bytes))) return std::nullopt;
  auto const& header = *reinterpret_cast<tracing::internal::RegionHeader const*>(bytes);
  if (std::memcmp(header.magic, tracing::internal::kRecordingMagic, sizeof(header.magic)) != 0) return std::nullopt;
  return tracing::Instant{header.start_ns};
}

std::vector<std::string> files_of(std::string const& command, std::vector<std::string> const& paths) {
  std::vector<std::string> all = paths;
  std::optional<LastRun> const last_run = paths.empty() ? find_last_run() : std::nullopt;
  if (all.empty()) {
    if (!last_run)
      throw std::runtime_error(command +
                               ": no recording is named, and in or below the current folder no ctest of tests by "
                               "testlog_discover_tests() has run");
    all = {last_run->folder.string()};
  }
  std::vector<std::string> files;
  for (std::string const& path : all) {
    std::error_code error;
    if (path.empty()) throw UsageError(command + ": an empty name; expected a file or a folder");
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    using tracing::recording::Folders;
    auto found = tracing::recording::recordings_in(path, Folders::only_this, error);
    if (last_run) leave_out_earlier_runs(command, *last_run, found);
    if (found.empty() && paths.empty())
      throw std::runtime_error(command + ": the last ctest left no recordings in " + printable(path) +
                               ": its tests passed, or recorded nothing");
    if (found.empty()) throw std::runtime_error(command + ": " + printable(path) + " has no recordings (*.rec)");
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
