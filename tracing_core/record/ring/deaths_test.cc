// The ways in which a process ends: its recording has every complete record and the open spans, and nothing else.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/campaign.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/decode/crash_reader.h"
#include "tracing_core/record/ring/recording_child.h"
#include "tracing_core/support/zeroed_pages.h"

namespace tracing_test { namespace {

using tracing::internal::RecordStore;
using tracing::internal::Region;
using tracing::recording::CrashReader;

constexpr std::size_t kSmall = std::size_t{1} << 20;
constexpr int kOtherThreads = 2;

void limit(int resource, std::size_t bytes) {
  rlimit const limits{bytes, bytes};
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

class Deaths : public testing::Test {
 protected:
  void SetUp() override {
    if (TESTLOG_TSAN != 0) GTEST_SKIP() << "a forked child that makes threads";
  }
  // Ends a child by `die(busy)`, in two spans of a thread, while others record. Returns waitpid()'s status.
  int die(std::size_t limit_bytes, std::function<void(BusyThread&)> const& die) {
    Progress& progress = shared_.start(200);
    unlink(path_.c_str());
    int const status = status_of_child([&] {
      limit(RLIMIT_CORE, 0);
      if (freopen("/dev/null", "w", stderr) == nullptr) _exit(102);  // messages of glibc and sanitizers
      (void)start_recording(path_, limit_bytes);
      start_busy_threads(kOtherThreads, progress);
      BusyThread busy(progress, kOtherThreads);
      busy.nested([&] {
        busy.nested([&] {
          for (int i = 0; i < 100; ++i) busy.step();
          usleep(2000);
          die(busy);
        });
      });
    });
    EXPECT_GT(expect_complete(path_, limit_bytes != kNeverFull, progress), 100u);
    EXPECT_TRUE(limit_bytes != kNeverFull || progress.threads[kOtherThreads].done > 100);
    return status;
  }
  // With all records and with the last ones; returns the status, which must be the same.
  int die(std::function<void(BusyThread&)> const& die) {
    int const status = this->die(kNeverFull, die);
    EXPECT_EQ(this->die(kSmall, die), status);
    return status;
  }

  TemporaryFolder const folder_;
  std::string const path_ = folder_ / "a.rec";
  SharedProgress shared_;
};

int signal_of(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

TEST_F(Deaths, ByAbort) {
  EXPECT_EQ(signal_of(die([](BusyThread&) { std::abort(); })), SIGABRT);
}

TEST_F(Deaths, ByExit) {
  EXPECT_EQ(WEXITSTATUS(die([](BusyThread&) { _exit(3); })), 3);
  EXPECT_EQ(WEXITSTATUS(die([](BusyThread&) { quick_exit(4); })), 4);
}

TEST_F(Deaths, ByAnExceptionThatNobodyCatches) {
  EXPECT_EQ(signal_of(die([](BusyThread&) { std::thread([] { throw 1; }).join(); })), SIGABRT);
}

// Records while it runs out, so that it may happen in the middle of a record.
[[gnu::noinline]] void overflow(BusyThread& busy) {
  busy.nested([&] { overflow(busy); });
}

TEST_F(Deaths, ByStackOverflow) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer has handlers of its own";
  int const status = die(kNeverFull, [](BusyThread& busy) {
    limit(RLIMIT_STACK, std::size_t{1} << 20);
    overflow(busy);
  });
  EXPECT_EQ(signal_of(status), SIGSEGV);
}

TEST_F(Deaths, ByStackOverflowOfAnotherThread) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer has handlers of its own";
  int const status = die(kNeverFull, [this](BusyThread&) {
    auto const run = [](void* progress) -> void* {
      BusyThread busy(*static_cast<Progress*>(progress), kOtherThreads + 1);
      overflow(busy);
      return nullptr;
    };
    pthread_attr_t small_stack;
    pthread_attr_init(&small_stack);
    pthread_attr_setstacksize(&small_stack, 512 * 1024);
    pthread_t thread;
    pthread_create(&thread, &small_stack, run, &shared_.progress());
    pthread_join(thread, nullptr);
  });
  EXPECT_EQ(signal_of(status), SIGSEGV);
  EXPECT_GT(shared_.progress().threads[kOtherThreads + 1].depth, 100u);
}

TEST_F(Deaths, ByACorruptHeap) {
  int const status = die([](BusyThread&) {
    auto* const block = static_cast<char*>(std::malloc(100));
    char* volatile const size_of_it = block - 8;
    std::memset(size_of_it, 0xff, 8);
    std::free(block);
  });
  EXPECT_TRUE(TESTLOG_ASAN != 0 || signal_of(status) == SIGABRT) << status;
}

// ---- signals at any instant ----

RecordStore const* store_to_read;
CrashReader* crash_reader;

void read_and_exit(int) {
  std::uint64_t last_number = 0;
  bool is_empty = true;
  for (crash_reader->start(*store_to_read, 0); crash_reader->next(); is_empty = false) {
    tracing::FieldValues const values = crash_reader->values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values.name(i) == "number") last_number = values.value(i).as_u64();
      if (values.name(i) == "check" && values.value(i).as_u64() != mixed(last_number)) _exit(5);
    }
  }
  _exit(is_empty ? 4 : 3);
}

class AtAnyInstant : public Deaths {
 protected:
  // A timer calls `handler` on a thread that records. If that takes its time while its thread extends the file, the
  // others go round in what there is.
  void die(void (*handler)(int), int rounds, std::function<bool(int status)> const& is_expected,
           bool takes_time = false) {
    std::minstd_rand random(11);
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      bool const may_lose = i % 2 == 0;
      auto const delay = static_cast<suseconds_t>(500 + random() % 5000);
      Progress& progress = shared_.start(i % 3 == 0 ? 15 : 3000);
      unlink(path_.c_str());
      int const status = status_of_child([&] {
        limit(RLIMIT_CORE, 0);
        auto const store = start_recording(path_, may_lose ? std::size_t{1} : kNeverFull);
        tracing::support::ZeroedPages pages;
        crash_reader = new (pages.map(sizeof(CrashReader))) CrashReader;
        store_to_read = store.get();
        start_busy_threads(1 + i % 3, progress);
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
        signal(SIGALRM, handler);
        itimerval const once{{}, {0, delay}};
        setitimer(ITIMER_REAL, &once, nullptr);
        for (;;) pause();
      });
      SCOPED_TRACE("round " + std::to_string(i));
      EXPECT_TRUE(is_expected(status)) << status;
      expect_complete(path_, may_lose || takes_time, progress);
    }
  }
};

TEST_F(AtAnyInstant, ByExit) {
  die([](int) { _exit(3); }, campaign(2000, 20), [](int status) { return WEXITSTATUS(status) == 3; });
}

TEST_F(AtAnyInstant, ByKill) {
  die([](int) { raise(SIGKILL); }, campaign(2000, 20), [](int status) { return signal_of(status) == SIGKILL; });
}

TEST_F(AtAnyInstant, ByACrash) {
  auto const crash = [](int) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  };
  die(crash, campaign(2000, 20), [](int status) { return signal_of(status) == SIGSEGV; });
}

TEST_F(AtAnyInstant, TheHandlerReadsTheRecording) {
  int const rounds = campaign(2000, 20);
  int empty = 0;
  auto const is_expected = [&empty](int status) {
    empty += WEXITSTATUS(status) == 4;
    return WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 4;
  };
  die(read_and_exit, rounds, is_expected, /*takes_time=*/true);
  EXPECT_LT(empty, rounds);
}

// ---- limits ----

std::size_t address_space_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void take_all_memory() {
  for (std::size_t bytes = std::size_t{1} << 20; bytes >= 16; bytes /= 2) {
    while (std::malloc(bytes) != nullptr) {
    }
  }
}

TEST_F(Deaths, ByBadAlloc) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer needs more memory";
  int const status = die([](BusyThread& busy) noexcept {
    limit(RLIMIT_AS, address_space_bytes() + (std::size_t{4} << 20));
    std::vector<std::string> all;
    for (;;) {
      all.emplace_back(1 << 20, 'x');
      busy.step();
    }
  });
  EXPECT_EQ(signal_of(status), SIGABRT);
}

TEST_F(Deaths, RecordsGoOnWithoutMemory) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer needs more memory";
  Progress& progress = shared_.start(15);
  int const status = status_of_child([&] {
    (void)start_recording(path_, kNeverFull);
    BusyThread busy(progress, 0);
    busy.nested([&] {
      busy.step();
      limit(RLIMIT_AS, address_space_bytes());
      take_all_memory();
      for (int i = 0; i < 10'000; ++i) busy.nested([&] { busy.step(); });
      _exit(3);
    });
  });
  EXPECT_EQ(WEXITSTATUS(status), 3) << status;
  EXPECT_EQ(expect_complete(path_, false, progress), 2 + 3 * 10'000u);
}

TEST_F(Deaths, WithoutAddressesThereIsNoFile) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer needs more memory";
  int const status = status_of_child([&] {
    limit(RLIMIT_AS, address_space_bytes() + (std::size_t{512} << 10));
    std::error_code error;
    bool const is_made = Region::make_file(path_, std::size_t{64} << 20, error) != nullptr;
    _exit(!is_made && error == std::errc::not_enough_memory ? 3 : 4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 3) << status;
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// What there is goes round: the last records are there, without gaps, and fill most of the file.
void expect_last_records(std::string const& path, std::size_t file_bytes, std::uint64_t made) {
  std::string problem;
  auto const recording = tracing::recording::Recording::read_file(path, problem);
  ASSERT_NE(recording, nullptr) << problem;
  std::uint64_t records = 0, contiguous = 0, next = 0;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    if (entry.is_restated()) return;
    ++records;
    contiguous = entry.ordinal == next ? contiguous + 1 : 1;
    next = entry.ordinal + 1;
  });
  EXPECT_EQ(next, made);
  EXPECT_EQ(contiguous, records) << "an older record was kept while a newer one was overwritten";
  EXPECT_GT(records * 24, file_bytes / 3);  // of four chunks, one has the callsites, and one may just have been begun
  EXPECT_EQ(recording->dropped(), 0u);
}

TEST_F(Deaths, AfterTheLargestFileThatIsAllowed) {
  constexpr std::size_t kBytes = 3'000'000;  // not the end of a group of chunks
  constexpr int kRecords = 1'000'000;
  int const status = status_of_child([&] {
    limit(RLIMIT_FSIZE, kBytes);
    (void)start_recording(path_, std::size_t{64} << 20);
    for (int i = 0; i < kRecords; ++i) TRACE_INFO("step", i);
    std::abort();
  });
  EXPECT_EQ(signal_of(status), SIGABRT);
  EXPECT_LE(std::filesystem::file_size(path_), kBytes);
  expect_last_records(path_, std::filesystem::file_size(path_), kRecords);
}

TEST_F(Deaths, WithManyThreadsInTheLargestFileThatIsAllowed) {
  EXPECT_EQ(signal_of(die(kSmall,
                          [](BusyThread& busy) {
                            limit(RLIMIT_FSIZE, kSmall / 2);
                            for (int i = 0; i < 10'000; ++i) busy.step();
                            std::abort();
                          })),
            SIGABRT);
}

// Mounts a small file system at `folder` for this process; false if that is not allowed.
bool mount_small(std::string const& folder) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  (void)mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=3m") == 0;
}

TEST_F(Deaths, OnAFullDisk) {
  constexpr int kRecords = 1'000'000;
  std::string const disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  int const status = status_of_child([&] {
    if (!mount_small(disk)) _exit(5);
    int const inner = status_of_child([&] {
      (void)start_recording(disk + "/a.rec", std::size_t{64} << 20);
      for (int i = 0; i < kRecords; ++i) TRACE_INFO("step", i);
      std::abort();
    });
    std::filesystem::copy_file(disk + "/a.rec", path_);
    _exit(signal_of(inner) == SIGABRT ? 3 : 4);
  });
  if (WEXITSTATUS(status) == 5) GTEST_SKIP() << "may not mount a file system";
  ASSERT_EQ(WEXITSTATUS(status), 3) << status;
  expect_last_records(path_, std::filesystem::file_size(path_), kRecords);
}

// ---- closed descriptors ----

TEST_F(Deaths, WithClosedStandardStreams) {
  Progress& progress = shared_.start(20);
  int const status = status_of_child([&] {
    limit(RLIMIT_CORE, 0);
    for (int const stream : {0, 1, 2}) close(stream);
    (void)start_recording(path_, kSmall);
    BusyThread busy(progress, 0);
    for (int i = 0; i < 100; ++i) busy.step();
    std::terminate();  // prints to standard error
  });
  EXPECT_EQ(signal_of(status), SIGABRT);
  EXPECT_EQ(expect_complete(path_, false, progress), 100u);
}

TEST_F(Deaths, AfterTheProgramClosedAllDescriptors) {
  constexpr int kRecords = 1'000'000;
  std::string const other = folder_.write("other", "text");
  int const status = status_of_child([&] {
    limit(RLIMIT_CORE, 0);
    (void)start_recording(path_, std::size_t{64} << 20);
    for (int descriptor = 3; descriptor < 1000; ++descriptor) close(descriptor);
    while (open(other.c_str(), O_RDWR) < 100) {  // one of them has the number of the recording's
    }
    for (int i = 0; i < kRecords; ++i) TRACE_INFO("step", i);
    std::abort();
  });
  EXPECT_EQ(signal_of(status), SIGABRT);
  EXPECT_EQ(folder_.read("other"), "text");
  expect_last_records(path_, std::filesystem::file_size(path_), kRecords);
}

// ---- forks ----

// Records in a forked child on the thread that has records of the parent, and on others.
void record_in_fork(Progress& progress, int how) {
  auto* const own = new Progress{};
  own->max_text = progress.max_text;
  constexpr std::uint64_t kFirst = 1'000'000'000'000;
  BusyThread busy(*own, 0, kFirst);
  for (int i = 0; i < 300; ++i) busy.nested([&] { busy.step(); });
  std::thread([own] {
    BusyThread other(*own, 1, kFirst);
    for (int i = 0; i < 300; ++i) other.nested([&] { other.step(); });
  }).join();
  if (how == 0) _exit(0);
  if (how == 1) std::exit(0);
  std::abort();
}

TEST_F(Deaths, LeaveTheParentsFileAloneInForkedChildren) {
  if (TESTLOG_ASAN != 0) GTEST_SKIP() << "AddressSanitizer may have locked its allocator in a forked child";
  int const forks = campaign(300, 6);
  for (bool const may_lose : {false, true}) {
    Progress& progress = shared_.start(200);
    unlink(path_.c_str());
    int const status = status_of_child([&] {
      limit(RLIMIT_CORE, 0);
      (void)start_recording(path_, may_lose ? kSmall : std::size_t{8} << 30);
      start_busy_threads(kOtherThreads, progress);
      BusyThread busy(progress, kOtherThreads);
      busy.nested([&] {
        std::uint64_t done = 0;  // on a busy machine the other threads may still have to begin
        for (int i = 0; i < forks || done < 2000; ++i) {
          busy.step();
          (void)status_of_child([&] { record_in_fork(progress, i % 3); });
          done = 0;
          for (auto const& thread : progress.threads) done += thread.done;
        }
        _exit(3);
      });
    });
    EXPECT_EQ(WEXITSTATUS(status), 3) << status;
    EXPECT_GT(expect_complete(path_, may_lose, progress), 1000u);
  }
}

}}  // namespace tracing_test
