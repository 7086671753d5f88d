// Everything that writes files, where disks are full, files may not grow, processes are killed and texts are hostile.
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

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/perf/perf_scope.h"
#include "tracing_core/tracing.h"

namespace robustness_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tracing;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlowness = 20;
#elif defined(__has_feature)
constexpr int kSlowness = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 20 : 1;
#else
constexpr int kSlowness = 1;
#endif

// ---- what is tried ----

// A layer that writes a file, and how it is ended.
struct Recorder {
  std::unique_ptr<Layer> layer;
  std::function<void()> end;
  std::function<std::uint64_t()> dropped = [] { return std::uint64_t{0}; };
  std::unique_ptr<Filter> filter{};
};

std::shared_ptr<Registry> registry_of(Recorder& recorder) {
  return RegistryBuilder().with(std::move(recorder.layer), std::move(recorder.filter)).build();
}

// One record of each kind: a line, an `i`; of flame two lines.
void record(int i) {
  TRACE_INFO("record", i, tracing::kv("text", "a text of some length, so that files grow"));
}
void record_span(int i) {
  TRACE_SPAN(info, "record", tracing::kv("i", i), tracing::kv("j", i));
}
void record_perf(int i) {
  TRACE_PERF("record", i, tracing::kv("text", "a text of some length, so that files grow"));
}

struct FileKind {
  char const* name;
  // Complaints go to the descriptor.
  Recorder (*make)(std::string const& path, int complain_to);
  // Whether the text is whole records, up to the last where it is not `complete`; their number, or -1.
  int (*count)(std::string text, bool complete);
  // Has it record something; of how many records, and of record(), record_span() and record_perf() together.
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
  // One may have broken off where the disk was full: behind it a new line begins.
  return wrong <= (complete ? 0 : 1) ? count : -1;
}

Recorder make_text(FormatKind format, std::string const& path, int complain_to) {
  std::error_code error;
  auto const sink = FdSink::append_to(path, error, complain_to);
  if (sink == nullptr) return {};
  PrintOptions options;
  options.format.kind = format;
  options.writer = to_sink(sink);
  return {print_layer(std::move(options)), [] {}, [sink] { return sink->missing_lines(); }};
}
// A time, what is recorded, and nothing behind it: two records on one line are none.
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

Recorder make_perf_json(std::string const& path, int complain_to) {
  std::error_code error;
  auto const sink = FdSink::append_to(path, error, complain_to);
  if (sink == nullptr) return {};
  PerfLayer made = perf_layer({.json = to_sink(sink)});
  return {std::move(made.layer), [] {}, [sink] { return sink->missing_lines(); }, std::move(made.filter)};
}

Recorder make_chrome(ChromeOptions options, std::string const& path, int complain_to) {
  options.path = path;
  options.complain_to = complain_to;
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
// Counts what has a phase, but for names of processes and threads.
class Phases final : public nlohmann::json_sax<nlohmann::json> {
 public:
  int count() const { return count_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, string_t const&) override { return true; }
  bool string(string_t& value) override {
    count_ += std::exchange(is_phase_, false) && value != "M";
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t& value) override {
    is_phase_ = value == "ph";
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, std::string const&, nlohmann::detail::exception const&) override { return false; }

 private:
  int count_ = 0;
  bool is_phase_ = false;
};

int count_chrome(std::string text, bool complete) {
  if (!complete) text += ']';
  Phases phases;
  return nlohmann::json::sax_parse(text, &phases) ? phases.count() : -1;
}

Recorder make_flame(std::string const& path, int complain_to) {
  std::error_code error;
  auto made = flame_layer(path, error, {.complain_to = complain_to});
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
    {"text", [](std::string const& path, int complain_to) { return make_text(FormatKind::full, path, complain_to); },
     count_text},
    {"json", [](std::string const& path, int complain_to) { return make_text(FormatKind::json, path, complain_to); },
     count_objects},
    {"perf_json", make_perf_json, count_objects, record_perf},
    {"chrome", [](std::string const& path, int complain_to) { return make_chrome({}, path, complain_to); },
     count_chrome, record, 1, 3},
    {"chrome_written_through",
     [](std::string const& path, int complain_to) { return make_chrome({.write_through = true}, path, complain_to); },
     count_chrome, record, 1, 3},
    {"flame", make_flame, count_flame, record_span, 2, 2},
};

// ---- how it is tried ----

std::string content(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// What a process of its own says is wrong.
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
  for (ssize_t size; (size = read(ends[0], room, sizeof(room))) > 0;) problems.append(room, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) problems += "ended by signal " + std::to_string(WTERMSIG(status));
  return problems;
}

class FileWriters : public testing::TestWithParam<FileKind> {
 protected:
  FileWriters() { fs::create_directories(folder_); }
  ~FileWriters() override { fs::remove_all(folder_); }
  std::string path(char const* name = "file") const { return folder_ / name; }

  fs::path const folder_ = fs::path(testing::TempDir()) / ("robustness_test." + std::to_string(getpid()));
};

// Complaints, to be read once.
class Complaints {
 public:
  Complaints() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
  }
  ~Complaints() { close(ends_[0]), close(ends_[1]); }
  int descriptor() const { return ends_[1]; }
  std::string read_all() {
    char room[4096];
    ssize_t const size = read(ends_[0], room, sizeof(room));
    return size > 0 ? std::string(room, static_cast<std::size_t>(size)) : std::string();
  }

 private:
  int ends_[2];
};

// What must hold of a file that could not take all of `emitted` records: whole ones are there, the others were counted, and it
// was said once.
void check_partial(FileKind const& kind, std::string const& path, Recorder const& recorder, std::string const& told,
                   int emitted, std::string& problems) {
  int const kept = kind.count(content(path), kind.is_chrome());
  if (kept < 10) problems += "only " + std::to_string(kept) + " whole records; ";
  std::uint64_t const dropped = recorder.dropped();
  if (static_cast<std::uint64_t>(kept) + dropped != static_cast<std::uint64_t>(emitted * kind.of_one)) {
    problems += std::to_string(kept) + " kept and " + std::to_string(dropped) + " dropped; ";
  }
  auto const lines = std::count(told.begin(), told.end(), '\n');
  if (lines != (kind.is_chrome() ? 2 : 1)) problems += "told " + std::to_string(lines) + " times: " + told;
}

// ---- full disks, limits, paths ----

TEST_P(FileWriters, KeepWholeRecordsWhereTheDiskIsFullAndGoOnWhenThereIsRoom) {
  std::string const problems = problems_in_child([this](std::string& wrong) {
    std::string const user = "0 " + std::to_string(getuid()) + " 1";
    std::string const group = "0 " + std::to_string(getgid()) + " 1";
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return void(wrong = "skip: no namespaces here");
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user;
    std::ofstream("/proc/self/gid_map") << group;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=512k") != 0) {
      return void(wrong = "skip: nothing can be mounted here");
    }
    std::ofstream(path("filler")) << std::string(256 << 10, 'x') << std::flush;
    Complaints complaints;
    Recorder recorder = GetParam().make(path(), complaints.descriptor());
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
    check_partial(GetParam(), path(), recorder, complaints.read_all(), emitted, wrong);
    if (fs::file_size(path()) <= size_when_full + 1000) wrong += "did not go on";
  });
  if (problems.starts_with("skip")) GTEST_SKIP() << problems;
  EXPECT_EQ(problems, "");
}

TEST_P(FileWriters, SurviveTheLimitOfAFilesSizeAndLeaveNoSignalBehind) {
  std::string const problems = problems_in_child([this](std::string& wrong) {
    signal(SIGXFSZ, SIG_DFL);
    Complaints complaints;
    Recorder recorder = GetParam().make(path(), complaints.descriptor());
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 100'000;
    setrlimit(RLIMIT_FSIZE, &limit);
    int emitted = 0;
    with_default(registry_of(recorder), [&] {
      for (; emitted < 10'000; ++emitted) GetParam().record_one(emitted);
    });
    // Room for the end of a trace.
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    recorder.end();
    sigset_t pending;
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1) wrong += "a signal waits; ";
    check_partial(GetParam(), path(), recorder, complaints.read_all(), emitted, wrong);
  });
  EXPECT_EQ(problems, "");
}

// As where a shell sets the limit and the file is there already.
TEST_P(FileWriters, SurviveALimitThatTheFileHasReached) {
  std::string const problems = problems_in_child([this](std::string& wrong) {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    Recorder recorder = GetParam().make(path(), -1);
    with_default(registry_of(recorder), [&] {
      for (int i = 0; i < 100; ++i) record(i), record_span(i), record_perf(i);
    });
    recorder.end();
    if (!content(path()).empty()) wrong += "something was written";
  });
  EXPECT_EQ(problems, "");
}

TEST_P(FileWriters, AreNoneWhereThePathIsAFolderOrCannotBeWrittenTo) {
  for (std::string const& bad :
       {folder_.string(), path("no/such/folder"), std::string("/proc/self/no"), std::string(5000, 'x')}) {
    EXPECT_EQ(GetParam().make(bad, -1).layer, nullptr) << bad;
  }
}

// ---- much ----

TEST_P(FileWriters, TakeWhatSixtyFourThreadsRecord) {
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

TEST_P(FileWriters, TakeAMillionSpansInAMemoryThatStaysTheSame) {
  constexpr int kSpans = 1'000'000 / kSlowness;
  std::string const problems = problems_in_child([this](std::string& wrong) {
    Recorder recorder = GetParam().make(path(), 2);
    rusage before{}, after{};
    with_default(registry_of(recorder), [&] {
      for (int i = 0; i < kSpans; ++i) {
        if (i == kSpans / 10) getrusage(RUSAGE_SELF, &before);
        GetParam().is_chrome() ? record_span(i) : GetParam().record_one(i);
      }
    });
    recorder.end();
    getrusage(RUSAGE_SELF, &after);
    bool const is_exact = kSlowness == 1;  // sanitizers keep what was freed
    if (is_exact && after.ru_maxrss - before.ru_maxrss > 8 << 10)
      wrong += std::to_string(after.ru_maxrss - before.ru_maxrss) + " KiB more; ";
    if (recorder.dropped() != 0) wrong += "records are missing; ";
    std::ifstream file(path(), std::ios::binary);
    long lines = 0;
    char room[1 << 16];
    while (file.read(room, sizeof(room)) || file.gcount() > 0) lines += std::count(room, room + file.gcount(), '\n');
    long const around = GetParam().is_chrome() ? 4 : 0;  // brackets and names
    if (lines != (GetParam().is_chrome() ? 2L : GetParam().of_one) * kSpans + around) wrong += std::to_string(lines) + " lines";
  });
  EXPECT_EQ(problems, "");
}

TEST_P(FileWriters, TakeLargeAndHostileTexts) {
  std::string const hostile("\xff\xc0\n\r\t\"\\\0 \x1b]};,", 15);
  std::string large;
  while (large.size() < (1 << 20)) large += hostile;
  RuntimeCallsite const span({.kind = tracing::Kind::span, .name = large, .target = large, .fields = {large, "record"}});
  RuntimeCallsite const event({.name = large, .target = hostile, .fields = {"message", hostile}});
  Value const values[] = {Value::of_text(large), Value::of_text(hostile)};
  Recorder recorder = GetParam().make(path(), 2);
  with_default(registry_of(recorder), [&] {
    auto const made = Span::make(span.callsite(), values).entered();
    emit_event(event.callsite(), values);
    record(1);
    TRACE_PERF("record", tracing::kv("text", large), tracing::kv("b", hostile));
  });
  recorder.end();
  std::string const text = content(path());
  EXPECT_GT(text.size(), 1U << 20);
  std::string_view const name = GetParam().name;
  if (name != "text") {
    EXPECT_EQ(GetParam().count(text, true), GetParam().is_chrome() ? 4 : name == "perf_json" ? 1 : 2);
    return;
  }
  // Nothing of a name or a value is missing, and nothing of it ends the line.
  std::string const shown = R"(\xff\xc0\n\r\t"\\x00 \x1b]};,\x00)";
  std::string const escaped = R"(\xff\xc0\n\r\t\"\\\0 \u{1b}]};,\0)";
  std::string escaped_large, shown_large;
  for (std::size_t i = 0; i < large.size() / hostile.size(); ++i) escaped_large += escaped, shown_large += shown;
  std::string const span_text =
      "  INFO " + shown_large + "{" + shown_large + "=\"" + escaped_large + "\" record=\"" + escaped + "\"}: ";
  // Not searched for: a sanitizer looks at as many bytes wherever the text might begin.
  std::size_t const first = sizeof("2026-01-01T00:00:00.000000Z") - 1;
  EXPECT_TRUE(std::string_view(text).substr(first).starts_with(span_text + shown + ": ")) << "the event and its target";
  EXPECT_TRUE(text.ends_with(span_text + "robustness_test: record i=1 text=\"a text of some length, so that files grow\"\n"));
}

INSTANTIATE_TEST_SUITE_P(All, FileWriters, testing::ValuesIn(kKinds),
                         [](auto const& kind) { return std::string(kind.param.name); });

// ---- killed ----

// Until each file has so many bytes, or a slow machine has had its time.
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

TEST(KilledProcesses, LeaveWholeRecordsAtAThousandInstants) {
  constexpr int kTurns = 1000 / kSlowness;
  fs::path const folder = fs::path(testing::TempDir()) / ("killed." + std::to_string(getpid()));
  std::mt19937 random(20261121);
  std::vector<int> most(std::size(kKinds));
  auto const work = [](std::shared_ptr<Registry> const& registry, void (*record_some)(int)) {
    with_default(registry, [record_some] {
      for (int i = 0;; ++i) record_some(i);
    });
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    fs::create_directories(folder);
    pid_t const child = fork();
    if (child == 0) {
      RegistryBuilder builder;
      std::shared_ptr<Registry> perf;  // on its own: others would see its spans
      std::vector<Recorder> recorders;  // which hold the guards
      for (FileKind const& kind : kKinds) {
        recorders.push_back(kind.make(folder / kind.name, -1));
        if (kind.record_one == record_perf) {
          perf = registry_of(recorders.back());
        } else {
          std::move(builder).with(std::move(recorders.back().layer));
        }
      }
      auto const registry = std::move(builder).build();
      auto const both = [](int i) { record_span(i), record(i); };
      std::thread(work, registry, both).detach();
      std::thread(work, perf, record_perf).detach();
      work(registry, both);
    }
    // Nothing is known of files that are not there yet; the last one to be made is. Now and then much is in all of them.
    wait_for_files(folder, turn % 20 == 0 ? 64 * 1024 : 0);
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
  for (std::size_t i = 0; i < std::size(kKinds); ++i) EXPECT_GT(most[i], kSlowness == 1 ? 100 : 0) << kKinds[i].name;
}

// A thread keeps a diary in memory that outlives it.
struct Diary {
  static constexpr int kMost = 60'000;
  std::atomic<int> count;
  std::int64_t when_ns[kMost];
};

TEST(KilledProcesses, MissTheLastHundredMillisecondsOfEachThreadAtMost) {
  constexpr int kThreads = 3;
  fs::path const file = fs::path(testing::TempDir()) / ("window." + std::to_string(getpid()) + ".json");
  auto* const diaries = static_cast<Diary*>(
      mmap(nullptr, sizeof(Diary) * kThreads, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(diaries, MAP_FAILED);
  std::mt19937 random(7);
  for (int turn = 0; turn < 5; ++turn) {
    for (int t = 0; t < kThreads; ++t) diaries[t].count = 0;
    pid_t const child = fork();
    if (child == 0) {
      Recorder recorder = make_chrome({}, file, -1);
      auto const registry = RegistryBuilder().with(std::move(recorder.layer)).build();
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&registry, &diary = diaries[t], t] {
          with_default(registry, [&] {
            for (int i = 0; i < Diary::kMost; ++i) {
              TRACE_INFO("record", t, i);
              diary.when_ns[i] = Instant::now().ns;  // before it the thread may have been kept waiting
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
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
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

}  // namespace
}  // namespace robustness_test
