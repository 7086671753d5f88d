#include "tracing_core/environment/ctest_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/write_all.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/process_stat.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMaxPause = 600 * kSecond;  // between ctests of one test each, which an IDE starts in a row
constexpr off_t kMaxLogBytes = 16 << 20;

std::string id_of(std::int64_t process, std::uint64_t start) {
  return std::to_string(process) + "-" + std::to_string(start);
}

bool is_ctest(ProcessStat const& process) noexcept {
  std::string_view const name = process.name;
  return name == "ctest" || name == "ctest3";
}

struct LoggedRun {
  Instant began{}, last{};
  std::string recording{};  // name of the first process's recording
  bool is_of_one_test = true;
};

using LoggedRuns = std::unordered_map<std::string, LoggedRun>;

// Skips lines that do not have the form of the log.
void read_lines(std::string const& path, LoggedRuns& runs) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;  // to open a FIFO would wait for a writer
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string id, what, recording;
    Instant time;
    if (!(words >> id >> time.ns >> what >> std::ws) || !std::getline(words, recording)) continue;
    auto const [found, is_new] = runs.try_emplace(id, LoggedRun{time, time, recording});
    LoggedRun& run = found->second;
    run.began = std::min(run.began, time);
    run.last = std::max(run.last, time);
    run.is_of_one_test &= run.recording == recording;
  }
}

LoggedRuns read_runs(std::string const& folder) {
  LoggedRuns runs;
  for (char const* const name : {"/runs.old.log", "/runs.log"}) read_lines(folder + name, runs);
  return runs;
}

}  // namespace

Run run_of_this_process() {
  constexpr int kMaxGenerations = 32;
  std::int64_t process = getppid();
  for (int i = 0; i < kMaxGenerations && process > 0; ++i) {
    auto const found = stat_of_process(process);
    if (!found) break;
    if (is_ctest(*found)) {
      return {id_of(process, found->start), true};
    }
    process = found->parent;
  }
  auto const own = stat_of_process(getpid());
  return {id_of(getpid(), own ? own->start : static_cast<std::uint64_t>(Instant::now().ns)), false};
}

void RunLog::append(Run const& run, std::string const& recording, Instant time, char const* what) const noexcept {
  try {
    std::string const path = folder_ + "/runs.log";
    std::string const line = run.id + " " + std::to_string(time.ns) + " " + what + " " + recording + "\n";
    int const file = open_to_append(path.c_str(), FileName::formed);
    if (file < 0) return;
    (void)internal::write_once(file, line);
    struct stat written {
    }, named{};
    // Only the process that gets the lock renames the log, unless another process has renamed it meanwhile.
    bool const is_full = fstat(file, &written) == 0 && written.st_size >= kMaxLogBytes;
    if (is_full && flock(file, LOCK_EX | LOCK_NB) == 0 && stat(path.c_str(), &named) == 0 &&
        named.st_ino == written.st_ino)
      std::rename(path.c_str(), (folder_ + "/runs.old.log").c_str());
    close(file);
  } catch (...) {  // out of memory
  }
}

void RunLog::begin(Run const& run, std::string const& recording, Instant time) const noexcept {
  append(run, recording, time, "begin");
}

void RunLog::end(Run const& run, std::string const& recording, Instant time, bool passed) const noexcept {
  append(run, recording, time, passed ? "passed" : "failed");
}

std::optional<Instant> RunLog::first_of(Run const& run) const {
  LoggedRuns const runs = read_runs(folder_);
  auto const found = runs.find(run.id);
  return found == runs.end() ? std::nullopt : std::optional(found->second.began);
}

std::optional<RunLog::LastRun> RunLog::last() const {
  LoggedRuns by_id = read_runs(folder_);
  std::vector<LoggedRun> runs;
  for (auto& [id, run] : by_id) runs.push_back(std::move(run));
  std::sort(runs.begin(), runs.end(), [](LoggedRun const& a, LoggedRun const& b) { return a.last > b.last; });
  if (runs.empty()) return std::nullopt;
  LoggedRun first = runs.front();
  for (LoggedRun const& run : runs) {
    bool const overlaps = run.last >= first.began;
    bool const is_one_of_many = run.is_of_one_test && first.is_of_one_test && first.began.ns - run.last.ns <= kMaxPause;
    if (!overlaps && !is_one_of_many) break;
    if (run.began <= first.began) first = run;
  }
  return LastRun{first.began, runs.front().last};
}

void empty_if_older(std::string const& path, Instant time) noexcept {
  constexpr std::int64_t kLag = kSecond / 100;  // the clock of files goes in ticks
  struct stat file {};
  auto const is_older = [&file, time] {
    bool const is_own = S_ISREG(file.st_mode) && file.st_uid == geteuid() && file.st_nlink == 1;
    return is_own && file.st_size > 0 && Instant{file.st_mtim.tv_sec * kSecond + file.st_mtim.tv_nsec + kLag} < time;
  };
  if (lstat(path.c_str(), &file) != 0 || !is_older()) return;
  int const descriptor = open_file(path.c_str(), O_WRONLY | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX) == 0 && fstat(descriptor, &file) == 0 && is_older()) (void)!ftruncate(descriptor, 0);
  close(descriptor);
}

}}}  // namespace tracing::v1::environment
