// Processes that are killed while their threads record: what was complete is in the file, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/campaign.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/internal/thread_info.h"
#include "tracing_core/record/reader.h"
#include "tracing_core/record/record_layer.h"
#include "tracing_core/tracing.h"

namespace tracing::internal {
namespace {

constexpr int kMaxThreads = 32;

// What the threads of the child have done, in memory that outlives it.
struct Progress {
  struct alignas(64) OfThread {
    std::atomic<std::uint64_t> track, begun, done, depth;
  };
  OfThread threads[kMaxThreads];
};

std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

std::string text_for(std::uint64_t number, std::size_t max_size) {
  return std::string(mixed(number) % (max_size + 1), static_cast<char>('a' + number % 26));
}

// Opens spans, leaves them and emits events, each with its number, until the process is killed.
class BusyThread {
 public:
  BusyThread(Progress::OfThread& progress, unsigned seed, std::size_t max_text)
      : progress_(progress), random_(seed), max_text_(max_text) {
    progress_.track = this_thread_info().number;
  }

  // Returns from a span now and then, never from the outermost level.
  void run(std::uint64_t depth) {
    for (;;) {
      std::uint64_t const choice = random_() % 8;
      if (choice == 0 && depth < 12) {
        std::uint64_t const number = begin();
        {
          TRACE_SPAN(info, "nested", number, kv("check", mixed(number)), kv("text", text_for(number, max_text_)));
          end(depth + 1);
          run(depth + 1);
          begin();
        }
        end(depth);
      } else if (choice == 1 && depth > 0) {
        return;
      } else {
        std::uint64_t const number = begin();
        TRACE_INFO("step", number, kv("check", mixed(number)), kv("text", text_for(number, max_text_)));
        end(depth);
      }
    }
  }

 private:
  std::uint64_t begin() {
    progress_.begun.store(next_ + 1, std::memory_order_release);
    return next_;
  }
  void end(std::uint64_t depth) {
    progress_.depth.store(depth, std::memory_order_release);
    progress_.done.store(++next_, std::memory_order_release);
  }

  Progress::OfThread& progress_;
  std::minstd_rand random_;
  std::size_t const max_text_;
  std::uint64_t next_ = 0;
};

constexpr std::size_t kNeverFull = std::size_t{512} << 20;  // in the life of a child

struct Round {
  int threads;
  std::size_t limit_bytes;
  std::size_t max_text;
};

[[noreturn]] void record_until_killed(std::string const& path, Round const& round, Progress& progress) {
  std::error_code error;
  auto const store = std::make_shared<RecordStore>(Region::make_file(path, round.limit_bytes, error));
  set_global_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build());
  std::vector<std::thread> threads;
  for (int i = 0; i < round.threads; ++i) {
    threads.emplace_back([&, i] {
      BusyThread(progress.threads[i], static_cast<unsigned>(i) + 1, round.max_text).run(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(1);
}

// Returns the number of records in the file.
std::size_t expect_complete(std::string const& path, Round const& round, Progress const& progress) {
  std::string problem;
  auto const recording = Recording::read_file(path, problem);
  if (recording == nullptr) {  // killed before the header was complete
    for (auto const& thread : progress.threads) EXPECT_EQ(thread.done, 0u) << problem;
    return 0;
  }
  std::size_t records = 0;
  std::map<std::uint64_t, Progress::OfThread const*> of_track;
  for (auto const& thread : progress.threads) {
    if (thread.track != 0) of_track[thread.track] = &thread;
  }
  std::map<std::uint64_t, std::uint64_t> next;  // ordinal, by track
  recording->for_each([&](RecordEntry const& entry) {
    if ((entry.flags & kRestated) != 0) return;
    ++records;
    auto const [found, is_first] = next.try_emplace(entry.writer, entry.ordinal);
    // In a small recording an older chunk may stay while a newer one is given away.
    bool const follows = entry.ordinal == (is_first ? 0 : found->second);
    EXPECT_TRUE(follows || round.limit_bytes < kNeverFull) << "a record is missing before " << entry.ordinal;
    EXPECT_TRUE(is_first || found->second <= entry.ordinal) << "a record is there twice";
    found->second = entry.ordinal + 1;
    if (entry.type == RecordType::scope_end) return;
    ASSERT_NE(entry.values, nullptr);
    std::uint64_t const number = entry.values[0].as_u64();
    EXPECT_EQ(number, entry.ordinal);
    EXPECT_EQ(entry.values[1].as_u64(), mixed(number));
    EXPECT_EQ(entry.values[2].as_text(), std::string(entry.values[2].as_text().size(), static_cast<char>('a' + number % 26)));
  });
  EXPECT_THAT(recording->problems(), testing::IsEmpty());
  for (RecordedTrack const& track : recording->tracks()) {
    Progress::OfThread const* const thread = of_track[track.number];
    if (thread == nullptr) {
      ADD_FAILURE() << "a track of no thread";
      continue;
    }
    std::uint64_t const end = next[track.number];
    EXPECT_LE(end, thread->begun) << "more records than were begun";
    EXPECT_TRUE(end >= thread->done || recording->dropped() > 0) << "a complete record is missing";
    bool const is_between_records = end == thread->done && thread->begun == thread->done;
    EXPECT_TRUE(!is_between_records || track.open.size() == thread->depth) << "the open spans are wrong";
  }
  return records;
}

TEST(KilledProcess, LeavesEveryCompleteRecordAndNothingElse) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "a forked child that makes threads";
  tracing_test::TemporaryFolder const folder;
  void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::minstd_rand random(7);
  std::size_t records = 0;
  int const rounds = tracing_test::campaign(1000, 40);
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    Round const round{.threads = 2 + i * 7 % (kMaxThreads - 1),
                      .limit_bytes = i % 3 == 0 ? kNeverFull : std::size_t{1} << 20,
                      .max_text = i % 2 == 0 ? std::size_t{20} : std::size_t{3000}};
    auto* const progress = new (shared) Progress{};
    std::string const path = folder / (std::to_string(i) + ".rec");
    pid_t const child = fork();
    if (child == 0) record_until_killed(path, round, *progress);
    usleep(2000 + static_cast<useconds_t>(random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    SCOPED_TRACE("round " + std::to_string(i));
    records += expect_complete(path, round, *progress);
    unlink(path.c_str());
  }
  munmap(shared, sizeof(Progress));
  EXPECT_GT(records, static_cast<std::size_t>(rounds) * 1000);
}

}  // namespace
}  // namespace tracing::internal
