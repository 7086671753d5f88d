// Declares ChromeOutput, where the records of a Chrome trace come together: the streams of threads, the thread that writes
// them, the file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "tracing_core/export/by_track.h"
#include "tracing_core/export/chrome_callsites.h"
#include "tracing_core/export/chrome_record.h"
#include "tracing_core/export/chrome_stream.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/trace_file.h"
#include "tracing_core/internal/clock_line.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// A list of records in JSON. Traced threads leave records in streams of their own, and a thread of its own makes text of them,
// in the order of time, and writes it. Thread-safe. In a forked child it does nothing: the file is the parent's, and a lock may
// be held by a thread that is not there.
class ChromeOutput {
 public:
  struct Destination {
    std::unique_ptr<TraceFile> file;
    std::shared_ptr<LineSink> sink;  // instead of it; neither: nowhere
  };
  // The number of a track in the trace, and whether the file does not know its name yet.
  struct Thread {
    std::int64_t tid;
    bool is_new;
  };

  static std::shared_ptr<ChromeOutput> make(Destination destination, ChromeOptions const& options, std::error_code error);
  ~ChromeOutput();
  ChromeOutput(ChromeOutput const&) = delete;
  ChromeOutput& operator=(ChromeOutput const&) = delete;

  // Whether what is added goes anywhere.
  bool is_open() const noexcept { return list_.load(std::memory_order_relaxed) != 0 && !is_in_forked_child(); }
  bool is_in_forked_child() const noexcept;
  ChromeRecords const& records() const noexcept { return records_; }
  std::int64_t pid() const noexcept { return pid_; }
  // Since the trace's own beginning.
  std::int64_t time_of(Instant time) const noexcept { return time.ns - start_.ns; }

  // ---- records of threads ----

  // The calling thread's stream, ready for records. Null where the track is another one, or where nobody would write them: then
  // add_whole() is for them.
  ChromeStream* own_stream(Track const& track) noexcept {
    if (!has_thread_.load(std::memory_order_relaxed)) return nullptr;
    ChromeStream* const stream = streams_.own(track);
    bool const is_ready = stream != nullptr && stream->thread_number == track.number &&
                          stream->list == list_.load(std::memory_order_relaxed);
    return is_ready ? stream : begin_stream(track);
  }
  // Room for a record, null where memory ran out.
  char* reserve(ChromeStream& stream, std::size_t bytes) noexcept {
    char* const at = stream.reserve(bytes);
    return at != nullptr ? at : bring_room(stream, bytes);
  }
  // It is there, recorded at `ticks`. May write it and all others. REQUIRES: no lock is held.
  void commit(ChromeStream& stream, std::size_t bytes, std::uint64_t ticks) noexcept {
    std::uint64_t const before = stream.end();
    stream.commit(bytes);
    if (ticks > stream.deadline.load(std::memory_order_relaxed)) [[unlikely]] look_after(stream, before, ticks);
  }
  // A record that is text, up to its time unless `has_time`.
  void add_text(ChromeStream& stream, std::string_view text, bool has_time, std::uint64_t ticks) noexcept;

  // ---- other records ----

  Thread thread(Track const& track) noexcept;
  // A record that is text, perhaps behind the one that names its thread.
  void add_whole(std::string_view text) noexcept;
  void count_dropped(std::uint32_t count) noexcept { dropped_.fetch_add(count, std::memory_order_relaxed); }

  // ---- the guard's ----

  void flush() noexcept;
  // What was recorded before belongs to the list that there is, what comes to the new one; nothing falls between them.
  void start_new(Destination destination) noexcept;
  // No new one could be made.
  void fail(std::error_code error) noexcept;
  void close() noexcept;
  // close() for good: the thread has ended.
  void finish() noexcept;
  // Whether records wait to be written. Async-signal-safe.
  bool is_behind() const noexcept;
  int complain_to() const noexcept { return complain_to_; }
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
    std::uint64_t place = 0;  // how far from the beginning of the file it stands, if all before it are written
  };
  // Where a list is written, and how far it has come.
  struct List {
    Destination destination;
    bool has_head = false;    // the bracket is written
    bool has_record = false;  // a record is written
    bool aligns = false;      // records keep within pages
    std::uint64_t dropped_before = 0;
  };
  enum class Rest : unsigned char { awake, dozing, asleep };
  using Lock = std::unique_lock<std::mutex>;

  ChromeOutput(Destination destination, ChromeOptions const& options, std::error_code error);
  void start_thread() noexcept;
  void run() noexcept;
  void sleep(Lock& lock) noexcept;

  ChromeStream* begin_stream(Track const& track) noexcept;
  char* bring_room(ChromeStream& stream, std::size_t bytes) noexcept;
  void look_after(ChromeStream& stream, std::uint64_t before, std::uint64_t ticks) noexcept;
  template <class F>
  void for_each_stream(F&& f) noexcept {
    f(others_);
    for (ChromeStream* stream = streams_.first(); stream != nullptr; stream = stream->next) f(*stream);
  }

  // With mutex_:
  std::int64_t number_of(Track const& track);
  char* bring_room_locked(ChromeStream& stream, std::size_t bytes) noexcept;
  bool append_thread(ChromeStream& stream, std::uint64_t list, std::int64_t tid, std::string_view name_record) noexcept;
  void wake() noexcept;

  // With writing_:
  void begin(Destination destination) noexcept;
  void end() noexcept;
  void go_on_in(List next) noexcept;
  void complete() noexcept;
  void write_waiting() noexcept;
  void merge_streams() noexcept;
  bool has_to_wait(ChromeRecordHead const& head) const noexcept;
  void take(ChromeStream& stream, ChromeRecordHead const& head) noexcept;
  void take_thread(ChromeStream::Reading& reading, ChromeThreadRecord const& record) noexcept;
  void append_name(ChromeStream::Reading& reading) noexcept;
  void append_values(ChromeStream::Reading const& reading, ChromeValuesRecord const& record) noexcept;
  std::int64_t next_time(ChromeStream::Reading& reading, std::uint64_t ticks) const noexcept;
  void give_back(ChromeChunk* chunk) noexcept;
  void write_record(std::string_view text) noexcept;
  void end_record(std::size_t begin, std::uint32_t count) noexcept;
  void write_block() noexcept;
  std::uint32_t write(Block const& block) noexcept;
  std::uint32_t write_parts(std::string_view text) noexcept;
  bool write_head() noexcept;
  bool write(std::string_view text) noexcept;

  bool const write_through_;  // without the thread
  bool const as_tracing_chrome_;
  int const complain_to_;
  unsigned const forks_when_made_;
  std::int64_t const pid_;
  ChromeRecords const records_;
  Instant const start_;
  std::thread worker_;

  std::atomic<std::uint64_t> list_{0};  // the list that is open; no two of the process have the same number; zero: none
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> has_thread_{false};

  mutable std::mutex writing_;  // taken before mutex_ where both are
  // Guarded by writing_:
  static constexpr std::uint64_t kNoList = ~std::uint64_t{0};
  List now_;
  std::error_code error_;
  std::uint64_t first_list_ = kNoList;  // records for this one and later ones belong into the file
  std::uint64_t next_list_ = kNoList;   // what was recorded for this one and later ones has to wait
  std::uint64_t file_ = 0;              // by its first list
  Block block_;
  ChromeCallsites callsites_;
  ClockLine clock_;

  std::mutex others_mutex_;  // whoever adds to it; taken before the two
  ChromeStream others_;      // of tracks that are not their threads' own

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_:
  ByTrack<ChromeStream> streams_;
  ChromeChunk* spare_chunks_ = nullptr;
  std::size_t spare_count_ = 0;
  std::size_t full_bytes_ = 0;  // chunks that are full and not read
  std::uint64_t most_age_ = 0;  // of what nobody has written, in ticks
  Rest rest_ = Rest::awake;
  bool stopping_ = false;
  std::unordered_map<std::uint64_t, KnownTrack> tracks_;  // by number: those that are no threads, or, as the reference, all

  ChromeOutput* next_abandoned_ = nullptr;
};

// What stands in names of files for the moment: microseconds since 1970.
std::string default_trace_path();

}  // namespace tracing::inline v1::internal
