// A process that records in many threads, and what its file must have, however and whenever it ends.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/thread_info.h"
#include "tracing_core/tracing.h"

namespace tracing_test {

inline constexpr int kMaxBusyThreads = 33;

/// The progress of the child's threads, in memory that outlives it.
struct Progress {
  struct alignas(64) OfThread {
    std::atomic<std::uint64_t> track, begun, done, depth;
  };
  OfThread threads[kMaxBusyThreads];
  std::size_t max_text;  // of the texts that they record
};

class SharedProgress {
 public:
  SharedProgress()
      : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  SharedProgress(SharedProgress const&) = delete;
  SharedProgress& operator=(SharedProgress const&) = delete;
  ~SharedProgress() { munmap(memory_, sizeof(Progress)); }
  /// Nothing done yet.
  Progress& start(std::size_t max_text) {
    auto* const progress = new (memory_) Progress{};
    progress->max_text = max_text;
    return *progress;
  }
  Progress& progress() const noexcept { return *static_cast<Progress*>(memory_); }

 private:
  void* const memory_;
};

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

inline std::string text_for(std::uint64_t number, std::size_t max_size) {
  return std::string(mixed(number) % (max_size + 1), static_cast<char>('a' + number % 26));
}

/// Opens spans, leaves them and emits events, each with its number, on the thread that made it.
class BusyThread {
 public:
  BusyThread(Progress& progress, int index, std::uint64_t first_number = 0)
      : progress_(progress.threads[index]),
        random_(static_cast<unsigned>(index) + 1),
        max_text_(progress.max_text),
        next_(first_number) {
    progress_.track = tracing::support::this_thread_info().number;
  }

  void step() {
    std::uint64_t const number = begin();
    TRACE_INFO("step", number, tracing::kv("check", mixed(number)), tracing::kv("text", text_for(number, max_text_)));
    end();
  }
  /// Calls `f` in a span.
  template <class F>
  void nested(F f) {
    std::uint64_t const number = begin();
    {
      TRACE_SPAN(info, "nested", number, tracing::kv("check", mixed(number)),
                 tracing::kv("text", text_for(number, max_text_)));
      ++depth_;
      end();
      f();
      begin();
    }
    --depth_;
    end();
  }
  /// Never ends at the outermost level.
  void run() {
    for (;;) {
      std::uint64_t const choice = random_() % 8;
      if (choice == 0 && depth_ < 12) {
        nested([this] { run(); });
      } else if (choice == 1 && depth_ > 0) {
        return;
      } else {
        step();
      }
    }
  }

 private:
  std::uint64_t begin() {
    progress_.begun.store(next_ + 1, std::memory_order_release);
    return next_;
  }
  void end() {
    progress_.depth.store(depth_, std::memory_order_release);
    progress_.done.store(++next_, std::memory_order_release);
  }

  Progress::OfThread& progress_;
  std::minstd_rand random_;
  std::size_t const max_text_;
  std::uint64_t depth_ = 0;
  std::uint64_t next_;
};

inline constexpr std::size_t kNeverFull = std::size_t{512} << 20;  // in the life of a child

/// Makes the recording and the global default of a child.
inline std::shared_ptr<tracing::internal::RecordStore> start_recording(std::string const& path,
                                                                       std::size_t limit_bytes) {
  std::error_code error;
  auto region = tracing::internal::Region::make_file(path, limit_bytes, error);
  if (region == nullptr) _exit(100);
  auto const store = std::make_shared<tracing::internal::RecordStore>(std::move(region));
  set_global_default(tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store)).build());
  return store;
}

/// Threads that record until the process ends.
inline void start_busy_threads(int count, Progress& progress) {
  for (int i = 0; i < count; ++i) std::thread([&progress, i] { BusyThread(progress, i).run(); }).detach();
}

/// The records of a file, as expect_complete() counts them.
struct FoundRecords {
  struct OfTrack {
    std::uint64_t next = 0, records = 0;  // the ordinal after the last one
  };
  std::map<std::uint64_t, OfTrack> tracks;  // by number
  std::set<std::uint64_t> spans;            // with name and number
  std::size_t records = 0;
};

/// Checks the values that a BusyThread gave a step or a span.
inline void expect_values(tracing::recording::Entry const& entry, std::size_t max_text) {
  bool const is_new = !entry.is_restated();
  ASSERT_NE(entry.values, nullptr);
  std::uint64_t const number = entry.values[0].as_u64();
  std::string const text = text_for(number, max_text);
  EXPECT_EQ(entry.values[1].as_u64(), mixed(number));
  std::size_t const compared = is_new ? text.npos : 40;  // what is described again may be cut
  EXPECT_EQ(entry.values[2].as_text().substr(0, compared), text.substr(0, compared));
  EXPECT_TRUE(!is_new || number == entry.ordinal) << number << " is number " << entry.ordinal;
}

/// Checks an entry and counts it.
inline void expect_next(tracing::recording::Entry const& entry, bool may_lose, std::size_t max_text,
                        FoundRecords& found) {
  bool const is_new = !entry.is_restated();
  found.records += is_new;
  if (!leaves_span(entry.type) && (is_new || entry.values != nullptr)) expect_values(entry, max_text);
  if (entry.metadata != nullptr && entry.metadata->name() == "nested") found.spans.insert(entry.span);
  if (!is_new) return;
  auto& [next, count] = found.tracks[entry.chunk_track];
  // In a small recording an older chunk may stay while a newer one is given away.
  EXPECT_TRUE(entry.ordinal == next || may_lose) << "a record is missing before " << entry.ordinal;
  EXPECT_LE(next, entry.ordinal) << "a record is there twice";
  next = entry.ordinal + 1;
  ++count;
}

/// Checks that the file has the records of a thread, or counts their loss, and the spans that the thread was in.
inline void expect_track(tracing::recording::TrackSummary const& track, Progress::OfThread const& thread,
                         std::uint64_t dropped, FoundRecords& found) {
  auto const& [next, count] = found.tracks[track.number];
  EXPECT_EQ(count + track.lost, next) << "a loss is not counted";
  EXPECT_LE(next, thread.begun) << "more records than were begun";
  EXPECT_TRUE(next >= thread.done || dropped > 0) << "a complete record is missing";
  for (std::uint64_t const key : track.open) EXPECT_TRUE(found.spans.contains(key)) << "an open span without name";
  if (dropped > 0) return;
  // The thread may have been about to open or to close one.
  std::uint64_t const depth = thread.depth;
  std::uint64_t const off = thread.begun == thread.done ? 0 : 1;
  EXPECT_LE(track.open.size(), depth + off) << "the open spans are wrong";
  EXPECT_GE(track.open.size() + off, depth) << "the open spans are wrong";
}

/// Checks the file of a process that has ended: each record that was complete is there or, if `may_lose`, counted, and
/// nothing else; each thread is in the spans that it was in. Returns the number of records in the file.
inline std::size_t expect_complete(std::string const& path, bool may_lose, Progress const& progress) {
  std::string problem;
  auto const recording = tracing::recording::Recording::read_file(path, problem);
  if (recording == nullptr) {  // ended before the header was complete
    for (auto const& thread : progress.threads) EXPECT_EQ(thread.done, 0u) << problem;
    return 0;
  }
  FoundRecords found;
  recording->for_each(
      [&](tracing::recording::Entry const& entry) { expect_next(entry, may_lose, progress.max_text, found); });
  EXPECT_THAT(recording->problems(), testing::IsEmpty());
  std::map<std::uint64_t, Progress::OfThread const*> of_track;
  for (auto const& thread : progress.threads) {
    if (thread.track != 0) of_track[thread.track] = &thread;
  }
  for (tracing::recording::TrackSummary const& track : recording->tracks()) {
    Progress::OfThread const* const thread = of_track[track.number];
    if (thread == nullptr) {
      ADD_FAILURE() << "a track of no thread";
    } else {
      expect_track(track, *thread, recording->dropped(), found);
    }
  }
  return found.records;
}

/// Calls `f()` in a child and waits until that has ended. Returns waitpid()'s status. GoogleTest must not see
/// exceptions of the child.
template <class F>
int status_of_child(F f) {
  pid_t const child = fork();
  if (child == 0) {
    [&]() noexcept { f(); }();
    _exit(101);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

}  // namespace tracing_test
