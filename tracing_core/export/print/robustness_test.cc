// All layers that write files: full disks, file size limits, many threads, and processes that are killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/campaign.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/perf/perf_scope.h"
#include "tracing_core/tracing.h"

namespace robustness_test { namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tracing;

// ---- the layers ----

// A layer that writes a file, and how to complete the file.
struct Recorder {
  std::unique_ptr<Layer> layer;
  std::function<void()> end;
  std::function<std::uint64_t()> dropped = [] { return std::uint64_t{0}; };
  std::unique_ptr<Filter> filter{};
};

std::shared_ptr<Registry> registry_of(Recorder& recorder) {
  return RegistryBuilder().with(std::move(recorder.layer), std::move(recorder.filter)).build();
}

// Each emits one record: a line, or an `i` in a Chrome trace. In folded stacks, a span makes two lines.
void record(int i) { TRACE_INFO("record", i, tracing::kv("text", "a text of some length, so that files grow")); }
void record_span(int i) { TRACE_SPAN(info, "record", tracing::kv("i", i), tracing::kv("j", i)); }
void record_perf(int i) { TRACE_PERF("record", i, tracing::kv("text", "a text of some length, so that files grow")); }

struct FileKind {
  char const* name;
  Recorder (*make)(std::string const& path, int error_fd);
  // Counts the records. Returns -1 if any is broken; in a file that is not `complete`, the last record may be.
  int (*count)(std::string text, bool complete);
  // Makes the layer record something. `of_one`: how many records this makes. `of_each`: how many records record(),
  // record_span() and record_perf() make together.
  void (*record_one)(int i) = record;
  int of_one = 1;
  int of_each = 1;

  bool is_chrome() const { return std::string_view(name).starts_with("chrome"); }
  friend std::ostream& operator<<(std::ostream& out, FileKind const& kind) { return out << kind.name; }
};

int count_lines(std::string text, bool complete, bool (*is_right)(std::string_view line)) {
  if (complete && !text.empty() && text.back() != '\n') return -1;
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  int count = 0;
  int wrong = 0;
  for (std::string line; std::getline(lines, line);) ++(is_right(line) ? count : wrong);
  // One line may have broken off when the disk was full.
  return wrong <= (complete ? 0 : 1) ? count : -1;
}

Recorder make_text(FormatKind format, std::string const& path, int error_fd) {
  std::error_code error;
  auto const sink = FdSink::append_to(path, error, error_fd);
  if (sink == nullptr) return {};
  PrintOptions options;
  options.format.kind = format;
  options.writer = to_sink(sink);
  return {print_layer(std::move(options)), [] {}, [sink] { return sink->missing_lines(); }};
}
// Counts lines that have a time and exactly one record.
int count_text(std::string text, bool complete) {
  return count_lines(std::move(text), complete, [](std::string_view line) {
    std::string_view const begin = "  INFO robustness_test: record i=";
    return line.starts_with("20") && line.find(begin) == 27 && line.find("INFO", 34) == line.npos &&
           line.ends_with(" text=\"a text of some length, so that files grow\"");
  });
}
int count_objects(std::string text, bool complete) {
  return count_lines(std::move(text), complete, [](std::string_view line) { return nlohmann::json::accept(line); });
}

Recorder make_perf_json(std::string const& path, int error_fd) {
  std::error_code error;
  auto const sink = FdSink::append_to(path, error, error_fd);
  if (sink == nullptr) return {};
  PerfLayer made = perf_layer({.json = to_sink(sink)});
  return {std::move(made.layer), [] {}, [sink] { return sink->missing_lines(); }, std::move(made.filter)};
}

Recorder make_chrome(ChromeOptions options, std::string const& path, int error_fd) {
  options.path = path;
  options.error_fd = error_fd;
  options.include_locations = false;
  auto made = chrome_layer(std::move(options));
  auto const guard = std::make_shared<ChromeGuard>(std::move(made.second));
  if (guard->error()) return {};
  auto const last = std::make_shared<std::uint64_t>(0);
  return {std::move(made.first),
          [guard, last] {
            guard->stop();
            *last = guard->dropped();
            *guard = {};
          },
          [last] { return *last; }};
}
int count_chrome(std::string text, bool complete) {
  if (!complete) {
    std::size_t const last = text.rfind(",\n");
    if (last != text.npos && !nlohmann::json::accept(std::string_view(text).substr(last + 2))) text.resize(last);
    text += ']';
  }
  if (!nlohmann::json::accept(text)) return -1;
  int count = 0;  // quotes inside of texts are escaped
  for (std::size_t at = 0; (at = text.find("\"ph\":\"", at)) != text.npos; at += 6) count += text[at + 6] != 'M';
  return count;
}

Recorder make_flame(std::string const& path, int error_fd) {
  std::error_code error;
  auto made = flame_layer(path, error, {.error_fd = error_fd});
  if (made.first == nullptr) return {};
  auto const guard = std::make_shared<FlameGuard>(std::move(made.second));
  auto const last = std::make_shared<std::uint64_t>(0);
  return {std::move(made.first),
          [guard, last] {
            guard->flush();
            *last = guard->dropped_lines();
            *guard = {};
          },
          [last] { return *last; }};
}
int count_flame(std::string text, bool complete) {
  return count_lines(std::move(text), complete, [](std::string_view line) {
    std::size_t const blank = line.rfind(' ');
    return line.starts_with("ThreadId(") && blank != line.npos && blank + 1 < line.size() &&
           line.find_first_not_of("0123456789", blank + 1) == line.npos;
  });
}

constexpr FileKind kKinds[] = {
    {"text", [](std::string const& path, int error_fd) { return make_text(FormatKind::full, path, error_fd); },
     count_text},
    {"json", [](std::string const& path, int error_fd) { return make_text(FormatKind::json, path, error_fd); },
     count_objects},
    {"perf_json", make_perf_json, count_objects, record_perf},
    {"chrome", [](std::string const& path, int error_fd) { return make_chrome({}, path, error_fd); }, count_chrome,
     record, 1, 3},
    {"chrome_written_through",
     [](std::string const& path, int error_fd) { return make_chrome({.write_through = true}, path, error_fd); },
     count_chrome, record, 1, 3},
    {"flame", make_flame, count_flame, record_span, 2, 2},
};

// ---- helpers ----

std::string content(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Returns the problems that `f(problems)` finds in a forked child.
template <class F>
std::string problems_in_child(F f) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  pid_t const child = fork();
  if (child == 0) {
    alarm(120);
    std::string problems;
    f(problems);
    (void)!write(ends[1], problems.data(), std::min<std::size_t>(problems.size(), 4096));
    _exit(0);
  }
  close(ends[1]);
  std::string problems;
  char room[4096];
  for (ssize_t size; (size = read(ends[0], room, sizeof(room))) > 0;)
    problems.append(room, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) problems += "ended by signal " + std::to_string(WTERMSIG(status));
  return problems;
}

class FileWriters : public testing::TestWithParam<FileKind> {
 protected:
  std::string path(char const* name = "file") const { return folder_ / name; }

  tracing_test::TemporaryFolder const folder_;
};

// Receives error reports in a pipe.
class ErrorPipe {
 public:
  ErrorPipe() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
  }
  ~ErrorPipe() { close(ends_[0]), close(ends_[1]); }
  int descriptor() const { return ends_[1]; }
  std::string read_all() {
    char room[4096];
    ssize_t const size = read(ends_[0], room, sizeof(room));
    return size > 0 ? std::string(room, static_cast<std::size_t>(size)) : std::string();
  }

 private:
  int ends_[2];
};

// Checks a file that could not take all of `emitted` records: it has complete records, all other records were counted,
// and the failure was reported once.
void check_partial(FileKind const& kind, std::string const& path, Recorder const& recorder, std::string const& report,
                   int emitted, std::string& problems) {
  int const kept = kind.count(content(path), kind.is_chrome());
  if (kept < 10) problems += "only " + std::to_string(kept) + " complete records; ";
  std::uint64_t const dropped = recorder.dropped();
  if (static_cast<std::uint64_t>(kept) + dropped != static_cast<std::uint64_t>(emitted * kind.of_one)) {
    problems += std::to_string(kept) + " kept and " + std::to_string(dropped) + " dropped; ";
  }
  auto const lines = std::count(report.begin(), report.end(), '\n');
  if (lines != (kind.is_chrome() ? 2 : 1)) problems += "reported " + std::to_string(lines) + " times: " + report;
}

// ---- full disks, limits, paths ----

TEST_P(FileWriters, KeepCompleteRecordsOnAFullDiskAndContinueWhenThereIsRoom) {
  std::string const problems = problems_in_child([this](std::string& wrong) {
    std::string const user = "0 " + std::to_string(getuid()) + " 1";
    std::string const group = "0 " + std::to_string(getgid()) + " 1";
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return void(wrong = "skip: no namespaces here");
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user;
    std::ofstream("/proc/self/gid_map") << group;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", path("").c_str(), "tmpfs", 0, "size=512k") != 0) {
      return void(wrong = "skip: mounting is not permitted here");
    }
    std::ofstream(path("filler")) << std::string(256 << 10, 'x') << std::flush;
    ErrorPipe errors;
    Recorder recorder = GetParam().make(path(), errors.descriptor());
    int emitted = 0;
    std::uintmax_t size_when_full = 0;
    with_default(registry_of(recorder), [&] {
      for (; emitted < 20'000; ++emitted) GetParam().record_one(emitted);
      std::this_thread::sleep_for(50ms);
      size_when_full = fs::file_size(path());
      fs::remove(path("filler"));
      for (; emitted < 20'100; ++emitted) GetParam().record_one(emitted);
    });
    recorder.end();
    check_partial(GetParam(), path(), recorder, errors.read_all(), emitted, wrong);
    if (fs::file_size(path()) <= size_when_full + 1000) wrong += "did not continue";
  });
  if (problems.starts_with("skip")) GTEST_SKIP() << problems;
  EXPECT_EQ(problems, "");
}

TEST_P(FileWriters, SurviveRlimitFsizeAndLeaveNoSignalPending) {
  std::string const problems = problems_in_child([this](std::string& wrong) {
    signal(SIGXFSZ, SIG_DFL);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 300'000;
    setrlimit(RLIMIT_FSIZE, &limit);
    ErrorPipe errors;
    Recorder recorder = GetParam().make(path(), errors.descriptor());
    int emitted = 0;
    with_default(registry_of(recorder), [&] {
      for (; emitted < 10'000; ++emitted) GetParam().record_one(emitted);
    });
    // Make room for the end of a trace.
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    recorder.end();
    sigset_t pending;
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1) wrong += "a signal is pending; ";
    check_partial(GetParam(), path(), recorder, errors.read_all(), emitted, wrong);
  });
  EXPECT_EQ(problems, "");
}

TEST_P(FileWriters, ReportFilesThatCannotBeCreated) {
  for (std::string const& bad : {path(""), path("no/such/folder"), std::string(5000, 'x')}) {
    EXPECT_EQ(GetParam().make(bad, -1).layer, nullptr) << bad;
  }
}

TEST_P(FileWriters, WriteTheRecordsOfSixtyFourThreads) {
  constexpr int kThreads = 64;
  constexpr int kRecords = 100;
  Recorder recorder = GetParam().make(path(), 2);
  auto const registry = registry_of(recorder);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&registry] {
      with_default(registry, [] {
        for (int i = 0; i < kRecords; ++i) record_span(i), record(i), record_perf(i);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  recorder.end();
  EXPECT_EQ(GetParam().count(content(path()), true), GetParam().of_each * kThreads * kRecords);
}

INSTANTIATE_TEST_SUITE_P(All, FileWriters, testing::ValuesIn(kKinds),
                         [](auto const& kind) { return std::string(kind.param.name); });

// ---- killed processes ----

// Waits until each file has so many bytes, for ten seconds at most.
void wait_for_files(fs::path const& folder, std::uintmax_t bytes) {
  auto const deadline = std::chrono::steady_clock::now() + 10s;
  for (FileKind const& kind : kKinds) {
    std::error_code error;
    for (auto size = fs::file_size(folder / kind.name, error); error || size < bytes;
         size = fs::file_size(folder / kind.name, error)) {
      if (std::chrono::steady_clock::now() > deadline) return;
      std::this_thread::sleep_for(50us);
    }
  }
}

TEST(KilledProcesses, LeaveAtMostOneBrokenRecord) {
  int const turns = tracing_test::campaign(1000, 20);
  fs::path const folder = fs::path(testing::TempDir()) / ("killed." + std::to_string(getpid()));
  std::mt19937 random(20261121);
  std::vector<int> most(std::size(kKinds));
  auto const work = [](std::shared_ptr<Registry> const& registry, void (*record_some)(int)) {
    with_default(registry, [record_some] {
      for (int i = 0;; ++i) record_some(i);
    });
  };
  for (int turn = 0; turn < turns; ++turn) {
    fs::create_directories(folder);
    pid_t const child = fork();
    if (child == 0) {
      RegistryBuilder builder;
      std::shared_ptr<Registry> perf;   // separate, as the other layers would see its spans
      std::vector<Recorder> recorders;  // keep the guards
      for (FileKind const& kind : kKinds) {
        recorders.push_back(kind.make(folder / kind.name, -1));
        if (kind.record_one == record_perf) {
          perf = registry_of(recorders.back());
        } else {
          builder.with(std::move(recorders.back().layer));
        }
      }
      auto const registry = std::move(builder).build();
      auto const both = [](int i) { record_span(i), record(i); };
      std::thread(work, registry, both).detach();
      std::thread(work, perf, record_perf).detach();
      work(registry, both);
    }
    // Every tenth time, wait until all files are large.
    wait_for_files(folder, turn % 10 == 0 ? 64 * 1024 : 0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
      std::string const text = content(folder / kKinds[i].name);
      int const count = kKinds[i].count(text, false);
      ASSERT_GE(count, 0) << kKinds[i].name << " in turn " << turn << "\n"
                          << text.substr(text.size() - std::min<std::size_t>(text.size(), 500));
      most[i] = std::max(most[i], count);
    }
    fs::remove_all(folder);
  }
  for (std::size_t i = 0; i < std::size(kKinds); ++i) EXPECT_GT(most[i], 0) << kKinds[i].name;
}

// Notes when a thread made each of its records, in memory that outlives the process.
struct Diary {
  static constexpr int kMaxRecords = 20'000;
  std::atomic<int> count;
  std::int64_t when_ns[kMaxRecords];
};

TEST(KilledProcesses, LoseAtMostTheLastHundredMillisecondsOfEachThread) {
  constexpr int kThreads = 3;
  fs::path const file = fs::path(testing::TempDir()) / ("window." + std::to_string(getpid()) + ".json");
  auto* const diaries = static_cast<Diary*>(
      mmap(nullptr, sizeof(Diary) * kThreads, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(diaries, MAP_FAILED);
  std::mt19937 random(7);
  for (int turn = 0; turn < tracing_test::campaign(5, 2); ++turn) {
    for (int t = 0; t < kThreads; ++t) diaries[t].count = 0;
    pid_t const child = fork();
    if (child == 0) {
      Recorder recorder = make_chrome({}, file, -1);
      auto const registry = RegistryBuilder().with(std::move(recorder.layer)).build();
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&registry, &diary = diaries[t], t] {
          with_default(registry, [&] {
            for (int i = 0; i < Diary::kMaxRecords; ++i) {
              TRACE_INFO("record", t, i);
              diary.when_ns[i] = Instant::now().ns;  // after the record, for which the thread may have waited
              diary.count.store(i + 1, std::memory_order_release);
              if (t > 0) std::this_thread::sleep_for(100us);
            }
          });
        });
      }
      for (std::thread& thread : threads) thread.join();
      pause();
    }
    while (diaries[0].count == 0) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 100));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string const text = content(file);
    ASSERT_GE(count_chrome(text, false), 0);
    for (int t = 0; t < kThreads; ++t) {
      std::string const key = "\"args\":{\"t\":" + std::to_string(t) + ",\"i\":";
      int in_file = 0;
      for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) ++in_file;
      int const recorded = diaries[t].count;
      if (in_file >= recorded) continue;
      std::int64_t const window = diaries[t].when_ns[recorded - 1] - diaries[t].when_ns[in_file];
      EXPECT_LE(window, std::chrono::nanoseconds(101ms).count()) << recorded - in_file << " records of thread " << t;
    }
    fs::remove(file);
  }
  munmap(diaries, sizeof(Diary) * kThreads);
}

}}  // namespace robustness_test
