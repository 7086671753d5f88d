#include "tracing_core/environment/ctest_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/write_all.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/process_stat.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMaxPause = 600 * kSecond;  // between ctests of one test each, which an IDE starts in a row
constexpr int kMaxGenerations = 32;
char const* const kHunt = "hunt-";  // begins the ids of ctests that testlog hunt starts
constexpr off_t kMaxLogBytes = 16 << 20;

std::string id_of(std::int64_t process, std::uint64_t start) {
  return std::to_string(process) + "-" + std::to_string(start);
}

bool is_ctest(ProcessStat const& process) noexcept {
  std::string_view const name = process.name;
  return name == "ctest" || name == "ctest3";
}

std::string id_of_this_process() {
  auto const own = stat_of_process(getpid());
  return id_of(getpid(), own ? own->start : static_cast<std::uint64_t>(Instant::now().ns));
}

std::string hash_of_this_program() {
  std::error_code error;
  std::uint64_t const hash = hash_of(std::filesystem::read_symlink("/proc/self/exe", error).native());
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ hash >> 32));
}

// A line of the log.
struct Line {
  std::string run, what, process, program, recording, file;
  int tests = 1, failed = 0;
  Instant time;
};

std::string_view next_word(std::string_view& text, char end) {
  std::string_view const word = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

void read_number(std::string_view text, int& number) {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

// Reads `<run> <time> <what>:<process>:<program> <recording>`. Earlier versions of testlog wrote neither process nor
// program. After `passed` and `failed`, the numbers of tests and of failed tests follow the program, each after a `:`.
// After `file`, the recording is followed by `/` and the name of the file.
std::optional<Line> line_of(std::string_view text) {
  Line line;
  line.run = next_word(text, ' ');
  std::string_view const time = next_word(text, ' ');
  auto const [end, error] = std::from_chars(time.data(), time.data() + time.size(), line.time.ns);
  std::string_view words = next_word(text, ' ');
  line.what = next_word(words, ':');
  line.process = next_word(words, ':');
  line.program = next_word(words, ':');
  read_number(next_word(words, ':'), line.tests);
  read_number(words, line.failed);
  line.recording = next_word(text, '/');
  line.file = text.empty() ? line.recording : std::string(text);
  bool const is_line = error == std::errc() && end == time.data() + time.size() && !line.run.empty() &&
                       !line.what.empty() && !line.recording.empty();
  return is_line ? std::optional(std::move(line)) : std::nullopt;
}

// Calls `f` for each line in the last `max_bytes` of a file.
template <class F>
void for_each_line_of_file(std::string const& path, std::size_t max_bytes, F f) {
  constexpr std::size_t kBlock = 16 * 1024;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;  // to open a FIFO would wait for a writer
  std::ifstream file(path);
  std::uintmax_t const size = std::filesystem::file_size(path, error);
  if (!error && size > max_bytes) file.seekg(static_cast<std::streamoff>(size - max_bytes));
  for (std::string text; file;) {
    std::size_t const rest = text.size();  // of a line that the last block did not end
    text.resize(rest + kBlock);
    file.read(text.data() + rest, kBlock);
    text.resize(rest + static_cast<std::size_t>(file.gcount()));
    std::string_view lines = text;
    if (file) lines = lines.substr(0, lines.rfind('\n') + 1);
    std::size_t const read = lines.size();
    while (!lines.empty()) f(next_word(lines, '\n'));
    text.erase(0, read);
  }
}

// Calls `f` for each line about `recording` or, if it is empty, for all lines, in the last `max_bytes` of each file of
// the log. Skips the runs of a hunt, and lines that do not have the form of the log.
template <class F>
void for_each_line(std::string const& folder, std::string_view recording, std::size_t max_bytes, F f) {
  for (char const* const name : {"/runs.old.log", "/runs.log"}) {
    for_each_line_of_file(folder + name, max_bytes, [&](std::string_view text) {
      // Each test of a large run reads the lines of the tests before it, so most lines are not parsed.
      bool const may_have = text.ends_with(recording) || text.find('/') != text.npos;
      auto line = may_have && !text.starts_with(kHunt) ? line_of(text) : std::nullopt;
      if (line && (recording.empty() || line->recording == recording)) f(*line);
    });
  }
}

// True if `process` or one of its ancestors is the program `testlog`.
bool is_started_by_testlog(std::int64_t process) {
  for (int i = 0; i < kMaxGenerations && process > 0; ++i) {
    auto const found = stat_of_process(process);
    if (!found) break;
    if (std::string_view(found->name) == "testlog") return true;
    process = found->parent;
  }
  return false;
}

struct OneRun {
  std::string id;
  Instant began{}, last{};
  std::string recording{};  // name of the first process's recording
  bool is_of_one_test = true;
};

std::vector<OneRun> read_runs(std::string const& folder) {
  std::unordered_map<std::string, OneRun> by_id;
  for_each_line(folder, {}, SIZE_MAX, [&by_id](Line const& line) {
    auto const [found, is_new] = by_id.try_emplace(line.run, OneRun{line.run, line.time, line.time, line.recording});
    OneRun& run = found->second;
    run.began = std::min(run.began, line.time);
    run.last = std::max(run.last, line.time);
    run.is_of_one_test &= run.recording == line.recording;
  });
  std::vector<OneRun> runs;
  for (auto& [id, run] : by_id) runs.push_back(std::move(run));
  return runs;
}

}  // namespace

Run run_of_this_process() {
  std::string const own = id_of_this_process(), program = hash_of_this_program();
  std::int64_t process = getppid();
  for (int i = 0; i < kMaxGenerations && process > 0; ++i) {
    auto const found = stat_of_process(process);
    if (!found) break;
    if (is_ctest(*found)) {
      bool const is_of_hunt = is_started_by_testlog(found->parent);
      return {(is_of_hunt ? kHunt : std::string()) + id_of(process, found->start), true, own, program};
    }
    process = found->parent;
  }
  return {own, false, own, program};
}

void RunLog::append(Run const& run, std::string_view recording, Instant time, char const* what,
                    std::string_view file_name, std::optional<Outcome> outcome) const noexcept {
  try {
    std::string const path = folder_ + "/runs.log";
    std::string line = run.id + " " + std::to_string(time.ns) + " " + what;
    if (!run.process.empty()) line += ":" + run.process + ":" + run.program;
    if (!run.process.empty() && outcome) line += fmt::format(":{}:{}", outcome->tests, outcome->failed);
    line.append(" ").append(recording).append(file_name.empty() ? "" : "/").append(file_name).append("\n");
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

void RunLog::take_file(Run const& run, std::string const& recording, std::string const& file,
                       Instant time) const noexcept {
  append(run, recording, time, "file", file);
}

void RunLog::end(Run const& run, std::string const& recording, Instant time, Outcome outcome) const noexcept {
  append(run, recording, time, outcome.passed ? "passed" : "failed", {}, outcome);
}

std::optional<Instant> RunLog::first_of(Run const& run) const {
  for (OneRun const& logged : read_runs(folder_))
    if (logged.id == run.id) return logged.began;
  return std::nullopt;
}

std::string RunLog::problem() const {
  for (char const* const name : {"/runs.old.log", "/runs.log"}) {
    std::string const path = folder_ + name;
    if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 && errno != ENOENT && errno != ENOTDIR)
      return path + ": " + std::generic_category().message(errno);
  }
  return {};
}

std::vector<RunLog::Attempt> RunLog::attempts(std::string_view recording, std::size_t max_bytes) const {
  std::vector<Attempt> attempts;
  std::unordered_map<std::string, int> numbers;             // by the run, the program and the recording
  std::unordered_map<std::string, std::size_t> by_process;  // the attempt that a process began last
  for_each_line(folder_, recording, max_bytes, [&](Line& line) {
    std::string const test = line.run + ' ' + line.program + ' ' + line.recording;
    std::string const process = test + ' ' + line.process;
    if (line.what == "begin") {
      by_process[process] = attempts.size();
      attempts.push_back({std::move(line.recording),
                          std::move(line.file),
                          std::move(line.run),
                          std::move(line.program),
                          ++numbers[test],
                          line.time,
                          line.time,
                          {}});
    } else if (auto const found = by_process.find(process); found != by_process.end()) {
      Attempt& attempt = attempts[found->second];
      if (line.what == "file") {
        attempt.file = std::move(line.file);
      } else {
        attempt.ended = line.time;
        attempt.passed = line.what == "passed";
        attempt.tests = std::max(1, line.tests);
        attempt.failed = std::clamp(line.failed, 0, attempt.tests);
      }
    }
  });
  return attempts;
}

std::vector<RunLog::LoggedRun> RunLog::runs() const {
  std::vector<OneRun> all = read_runs(folder_);
  std::sort(all.begin(), all.end(), [](OneRun const& a, OneRun const& b) { return a.last > b.last; });
  std::vector<LoggedRun> runs;
  OneRun first;  // the earliest run that counts as part of runs.back()
  for (OneRun const& run : all) {
    bool const overlaps = !runs.empty() && run.last >= first.began;
    bool const is_one_of_many =
        !runs.empty() && run.is_of_one_test && first.is_of_one_test && first.began.ns - run.last.ns <= kMaxPause;
    if (!overlaps && !is_one_of_many) runs.push_back({{}, run.began, run.last});
    LoggedRun& joined = runs.back();
    bool const is_first = joined.ids.empty() || run.began <= first.began;
    joined.ids.insert(is_first ? joined.ids.begin() : joined.ids.end(), run.id);
    if (!is_first) continue;
    first = run;
    joined.began = run.began;
  }
  return runs;
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
