// ChromeOutput: collects the records of a Chrome trace from all threads and writes them to a file.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/per_track.h"
#include "tracing_core/export/chrome/chrome_callsites.h"
#include "tracing_core/export/chrome/chrome_record.h"
#include "tracing_core/export/chrome/chrome_stream.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print/worker_state.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/tick_converter.h"

namespace tracing { inline namespace v1 { namespace internal {

// A thread writes its records itself when they are this old: a little less than the documented 100 ms.
inline constexpr std::uint64_t kMaxAgeNs = 95'000'000;
// The maximum number of bytes that wait in full chunks. A thread that records more writes them itself.
inline constexpr std::size_t kMaxFullBytes = 8 * 1024 * 1024;
// The usual size of a write.
inline constexpr std::size_t kBlockBytes = 128 * 1024;
inline constexpr std::size_t kMaxChromeRecordBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxSpareChunks = 32;

// The first number of tracks that are not threads of the process; greater than any number that the system gives to a
// thread.
inline constexpr std::uint64_t kFirstOtherTrack = 1 << 30;

// Writes a new file of records. Removes a block of records again if it cannot be written completely. Single-thread;
// throws only std::bad_alloc.
class TraceFile {
 public:
  // Creates the file. If that fails, reports it, sets `error` and returns null.
  static std::unique_ptr<TraceFile> create(std::string path, int error_fd, std::error_code& error);
  // Writes to an open descriptor, of which it takes ownership.
  static std::unique_ptr<TraceFile> adopt(int descriptor, std::string path, int error_fd);
  TraceFile(TraceFile const&) = delete;
  TraceFile& operator=(TraceFile const&) = delete;
  ~TraceFile();

  // Returns false if `text` could not be written. Reports the first failure on `error_fd`, unless that is negative.
  bool append(std::string_view text) noexcept;

  std::string const& path() const noexcept { return path_; }
  // Reports that `count` records are missing in the file, unless `count` is 0.
  void report_missing(std::uint64_t count) const noexcept;

 private:
  TraceFile(int descriptor, std::string path, int error_fd) noexcept;
  static void report_failure(int error_fd, std::string_view path, int error) noexcept;

  int const descriptor_;
  std::uint64_t const identity_;  // a program that closes all descriptors may use this number for a file of its own
  bool const blocks_signals_;
  std::string const path_;
  int const error_fd_;
  std::uint64_t size_ = 0;
  bool failed_ = false;
};

// The process that a trace shows.
struct ChromeProcess {
  std::int64_t pid = 0;
  std::string name{};
  Instant start{};                                     // times count from here
  std::function<std::int64_t(Track const&)> tid_of{};  // null: the tracks are threads of the running process
  // One list may hold several processes, one after another: the first opens the list, and the last closes it.
  bool opens_list = true;
  bool closes_list = true;

  static ChromeProcess current();
};

// Collects the records of all threads and writes them. Each traced thread stores its records in its own stream; a
// worker formats them as JSON, in the order of time, and writes them. Thread-safe. Does nothing in a forked child: the
// file is the parent's, and a lock may be held by a thread that does not exist in the child.
class ChromeOutput {
 public:
  struct Destination {
    std::unique_ptr<TraceFile> file;
    std::shared_ptr<LineSink> sink;  // used instead of the file; if both are null, records are dropped
  };

  static std::shared_ptr<ChromeOutput> make(Destination destination, ChromeOptions const& options,
                                            ChromeProcess process, std::error_code error);
  ~ChromeOutput();
  ChromeOutput(ChromeOutput const&) = delete;
  ChromeOutput& operator=(ChromeOutput const&) = delete;

  // Returns true if records are written to a file or sink.
  bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed) && !is_in_forked_child(); }
  bool is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }
  ChromeRecords const& records() const noexcept { return records_; }
  std::int64_t pid() const noexcept { return process_.pid; }
  // Returns the nanoseconds since the trace began. Never negative, as readers expect: a span that began earlier is
  // shown from the beginning of the trace on.
  std::int64_t time_of(Instant time) const noexcept {
    if (time < process_.start) return 0;
    std::uint64_t const ns = static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(process_.start.ns);
    return ns > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(ns);
  }

  // ---- for the threads that record ----

  // Returns the calling thread's stream, ready for records. Returns null if `track` is not the thread's own, or if
  // memory ran out.
  ChromeStream* own_stream(Track const& track) noexcept {
    ChromeStream* const stream = streams_.own(track);
    if (stream != nullptr && stream->thread_number == track.number) [[likely]]
      return stream;
    return is_own_track(track) ? find_stream(streams_, track) : nullptr;
  }
  // Returns the number that a track has in the trace.
  std::int64_t tid_of(Track const& track) noexcept;
  // Returns room for a record, or null if memory ran out.
  char* reserve(ChromeStream& stream, std::size_t bytes) noexcept {
    char* const at = stream.reserve(bytes);
    return at != nullptr ? at : add_chunk(stream, bytes);
  }
  // Publishes the record stamped `ticks`; may write all streams. REQUIRES: the caller holds no lock.
  void commit(ChromeStream& stream, std::size_t bytes, std::uint64_t ticks) noexcept {
    std::uint64_t const before = stream.end();
    stream.commit(bytes);
    if (ticks > stream.deadline.load(std::memory_order_relaxed)) [[unlikely]]
      check_deadline(stream, before, ticks);
  }
  // Adds a record that is already text to any track. The text includes its time if `has_time`; otherwise it ends before
  // the time. `own` is own_stream(track). `names_thread`: the track's first record names the thread; false: the
  // thread's own records do that.
  void add_text(ChromeStream* own, Track const& track, std::string_view text, bool has_time, std::uint64_t ticks,
                bool names_thread = true) noexcept;
  // Adds the beginning or the end of a slice other than a span, such as a test, to the calling thread.
  void add_slice(char phase, std::string_view name) noexcept;
  // Overload for any track and a past time.
  void add_slice(char phase, std::string_view name, Track const& track, Instant time) noexcept;
  void count_dropped(std::uint32_t count) noexcept { dropped_.fetch_add(count, std::memory_order_relaxed); }

  // ---- for the guard ----

  void flush() noexcept;
  // Completes the current file, if any, and continues in another file. Each record is in exactly one of the two.
  void start_new(Destination destination) noexcept;
  // Stores the reason why no new file could be created, unless records are still written to an earlier file.
  void fail(std::error_code error) noexcept;
  void close() noexcept;
  // Closes the trace for good and ends the worker.
  void finish() noexcept;
  // Returns true while records wait to be written. Async-signal-safe.
  bool is_behind() const noexcept;
  int error_fd() const noexcept { return error_fd_; }
  std::error_code error() const noexcept;
  std::string path() const;
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  // Waking the worker is expensive, so it waits this long for more records, or until this many bytes are waiting.
  static constexpr std::chrono::milliseconds kPollInterval{10};
  static constexpr std::size_t kEnoughBytes = 256 * 1024;

  // Records that are written together.
  struct Block {
    TextBuffer text;
    std::uint32_t records = 0;
  };
  // A destination, and what has been written to it.
  struct Target {
    Destination destination;
    bool has_head = false;    // the bracket is written
    bool has_record = false;  // a record is written
    std::uint64_t dropped_before = 0;
    bool is_nowhere() const noexcept { return destination.file == nullptr && destination.sink == nullptr; }
  };
  // A stream and its next record.
  struct Front {
    ChromeStream* stream;
    ChromeRecordHead const* head;
  };

  ChromeOutput(Destination destination, ChromeOptions const& options, ChromeProcess process, std::error_code error);
  void start_worker() noexcept;
  void run() noexcept;
  bool wait_for_records() noexcept;

  ChromeStream* find_stream(PerTrack<ChromeStream>& streams, Track const& track, bool names_thread = true) noexcept;
  char* add_chunk(ChromeStream& stream, std::size_t bytes) noexcept;
  void check_deadline(ChromeStream& stream, std::uint64_t before, std::uint64_t ticks) noexcept;
  template <class F>
  void for_each_stream(F&& f) const noexcept {
    for (ChromeStream* stream = streams_.first(); stream != nullptr; stream = stream->next) f(*stream);
    for (ChromeStream* stream = other_streams_.first(); stream != nullptr; stream = stream->next) f(*stream);
  }

  std::int64_t number_of(Track const& track) TRACING_REQUIRES(mutex_);
  char* add_chunk_locked(ChromeStream& stream, std::size_t bytes) noexcept TRACING_REQUIRES(mutex_);
  bool append_thread(ChromeStream& stream, std::int64_t tid, std::string_view name_record) noexcept
      TRACING_REQUIRES(mutex_);
  void park() noexcept TRACING_REQUIRES(mutex_);
  void give_back(ChromeChunk* chunk) noexcept TRACING_EXCLUDES(mutex_);

  // In chrome_writing.cc:
  void begin(Destination destination) noexcept TRACING_REQUIRES(writing_);
  void complete() noexcept TRACING_REQUIRES(writing_);
  void write_waiting() noexcept TRACING_REQUIRES(writing_);
  void merge_streams() noexcept TRACING_REQUIRES(writing_);
  bool find_fronts(std::vector<Front>& fronts) noexcept;
  ChromeRecordHead const* front_of(ChromeStream& stream) noexcept;
  void take(ChromeStream& stream, ChromeRecordHead const& head) noexcept TRACING_REQUIRES(writing_);
  void append_name(ChromeStream::Reading& reading) noexcept TRACING_REQUIRES(writing_);
  std::int64_t next_time(ChromeStream::Reading& reading, std::uint64_t ticks) const noexcept TRACING_REQUIRES(writing_);
  void end_record(std::size_t begin, std::uint32_t count) noexcept TRACING_REQUIRES(writing_);
  void write_block() noexcept TRACING_REQUIRES(writing_);
  bool write_records(std::string_view text) noexcept TRACING_REQUIRES(writing_);
  bool write_head() noexcept TRACING_REQUIRES(writing_);
  bool write(std::string_view text) noexcept TRACING_REQUIRES(writing_);

  bool const write_through_;
  bool const as_tracing_chrome_;
  int const error_fd_;
  unsigned const forks_when_made_ = fork_count();
  ChromeProcess const process_;
  ChromeRecords const records_;
  std::thread worker_;

  std::atomic<bool> is_open_{false};
  // Counts files. A file that lost a block counts as a new file, so that it gets all threads' names again.
  std::atomic<std::uint64_t> file_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> has_worker_{false};  // false: threads write each record at once

  // Lock order: others_mutex_, writing_, mutex_.
  Mutex others_mutex_;  // serialises additions to other_streams_

  mutable Mutex writing_;
  Target target_ TRACING_GUARDED_BY(writing_);
  std::error_code error_ TRACING_GUARDED_BY(writing_);
  Block block_ TRACING_GUARDED_BY(writing_);
  std::vector<Front> fronts_ TRACING_GUARDED_BY(writing_);
  TickConverter clock_ TRACING_GUARDED_BY(writing_);
  ChromeCallsites callsites_ TRACING_GUARDED_BY(writing_){records_, process_.pid};

  Mutex mutex_;
  PerTrack<ChromeStream> streams_;        // records that threads make on their own tracks; find() needs mutex_
  PerTrack<ChromeStream> other_streams_;  // records that threads make on other tracks; find() needs mutex_
  ChromeChunk* spare_chunks_ TRACING_GUARDED_BY(mutex_) = nullptr;
  std::size_t spare_count_ TRACING_GUARDED_BY(mutex_) = 0;
  std::size_t full_bytes_ TRACING_GUARDED_BY(mutex_) = 0;  // in chunks that are full and not read
  std::uint64_t max_age_ TRACING_GUARDED_BY(mutex_) = 0;   // of waiting records, in ticks
  WorkerState worker_state_ TRACING_GUARDED_BY(mutex_);
  bool stopping_ TRACING_GUARDED_BY(mutex_) = false;
  // The numbers of tracks as tracing-chrome counts them.
  std::unordered_map<std::uint64_t, std::int64_t> tracks_ TRACING_GUARDED_BY(mutex_);
};

// Returns the file name for an empty path: `trace-<microseconds since 1970>.json`.
std::string default_trace_path();

}}}  // namespace tracing::v1::internal
