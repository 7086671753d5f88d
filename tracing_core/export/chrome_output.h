// Declares ChromeOutput, where the records of a Chrome trace come together: the block that waits, the thread that writes it, the
// file, the threads known.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/trace_file.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// A list of records in JSON. Traced threads add to a block, and a thread of its own writes it: they meet for the copying of a
// record alone, and take turns with two blocks. Thread-safe. In a forked child it does nothing: the file is the parent's, and
// a lock may be held by a thread that is not there.
class ChromeOutput {
 public:
  // What a thread recorded is written when it is this old, or the thread itself writes it.
  static constexpr std::chrono::milliseconds kMostAge{100};

  struct Options {
    bool write_through = false;  // without the thread
    bool as_tracing_chrome = false;
    int complain_to = 2;
  };
  struct Destination {
    std::unique_ptr<TraceFile> file;
    std::shared_ptr<LineSink> sink;  // instead of it; neither: nowhere
  };
  // The number of a thread in the trace, and whether the file does not know its name yet.
  struct Thread {
    std::int64_t tid;
    bool is_new;
  };

  static std::shared_ptr<ChromeOutput> make(Destination destination, Options options, std::error_code error);
  ~ChromeOutput();
  ChromeOutput(ChromeOutput const&) = delete;
  ChromeOutput& operator=(ChromeOutput const&) = delete;

  // Whether what is added goes anywhere.
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed) && !is_in_forked_child(); }
  bool is_in_forked_child() const noexcept;
  Thread thread(Track const& track) noexcept;
  // Each record begins with ",\n". `time` is that of the clock, empty where the records are about another one.
  void add(std::string_view records, std::uint32_t count, Instant time) noexcept;
  void count_dropped(std::uint32_t count) noexcept { dropped_.fetch_add(count, std::memory_order_relaxed); }

  void flush() noexcept;
  void start_new(Destination destination) noexcept;
  void close() noexcept;
  // close() for good: the thread has ended.
  void finish() noexcept;
  // Whether records wait to be written. Async-signal-safe.
  bool is_behind() const noexcept { return unwritten_.load(std::memory_order_relaxed) != 0; }

  std::int64_t pid() const noexcept { return pid_; }
  int complain_to() const noexcept { return options_.complain_to; }
  std::error_code error() const noexcept;
  std::string path() const;
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend struct Abandoned;
  struct KnownTrack {
    std::int64_t tid;
    std::uint64_t list;  // the last one that has its name
  };
  // Records that are written together.
  struct Block {
    TextBuffer text;
    std::uint32_t records = 0;
    std::int64_t oldest_ns = kNever;  // when the first of them happened
    std::uint64_t place = 0;          // how far from the beginning of the file it stands, if all before it are written
  };
  enum class Rest : unsigned char { awake, dozing, asleep };
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::int64_t kNever = INT64_MAX;

  ChromeOutput(Destination destination, Options options, std::error_code error);
  void start_thread() noexcept;
  void run() noexcept;

  // With mutex_:
  Thread find(Track const& track);
  bool append(std::string_view records, std::uint32_t count, Instant time) noexcept;
  bool is_too_old(Instant time) const noexcept;
  void wake() noexcept;

  // With writing_:
  void begin() noexcept;
  void end() noexcept;
  void write_waiting() noexcept;
  std::uint32_t write(Block const& block) noexcept;
  std::uint32_t write_parts(std::string_view text) noexcept;
  bool write_head() noexcept;
  bool write(std::string_view text) noexcept;
  bool aligns() const noexcept { return destination_.file != nullptr && destination_.file->is_regular() && !options_.as_tracing_chrome; }

  Options const options_;
  unsigned const forks_when_made_;
  std::int64_t const pid_;
  std::thread worker_;

  std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> list_{0};  // the list that is being written; no two of the process have the same number
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint32_t> unwritten_{0};  // records in both blocks; stored under mutex_

  mutable std::mutex writing_;  // taken before mutex_ where both are
  // Guarded by writing_:
  Destination destination_;
  std::error_code error_;
  bool has_head_ = false;    // the bracket is written
  bool has_record_ = false;  // a record is written
  std::uint64_t dropped_before_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_:
  Block blocks_[2];
  Block* filling_ = &blocks_[0];  // the other one is being written, or empty
  std::int64_t written_oldest_ns_ = kNever;  // of that one
  bool aligns_ = false;
  Rest rest_ = Rest::awake;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, KnownTrack> tracks_;  // by number: those that are no threads, or, as the reference, all

  std::atomic<bool> has_thread_{false};
  ChromeOutput* next_abandoned_ = nullptr;
};

// What stands in names of files for the moment: microseconds since 1970.
std::string default_trace_path();

}  // namespace tracing::inline v1::internal
