// Declares ChromeOutput, where the records of a Chrome trace come together: the block that waits, the file, the threads known.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/trace_file.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// A list of records in JSON. Thread-safe. In a forked child it does nothing: the file is the parent's, and the lock may be
// held by a thread that is not there.
class ChromeOutput {
 public:
  struct Options {
    bool write_through = false;
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
  // Each record begins with ",\n".
  void add(std::string_view records, std::uint32_t count) noexcept;
  void count_dropped(std::uint32_t count) noexcept { dropped_.fetch_add(count, std::memory_order_relaxed); }

  void flush() noexcept;
  void start_new(Destination destination) noexcept;
  void close() noexcept;

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
  using Lock = std::lock_guard<std::mutex>;

  ChromeOutput(Destination destination, Options options, std::error_code error);
  // With the lock:
  Thread find(Track const& track);
  void begin() noexcept;
  void append_head() noexcept;
  void end() noexcept;
  void write_waiting() noexcept;
  bool write(std::string_view text) noexcept;
  // What follows from that `count` records were written, or not. REQUIRES: none wait.
  void settle(bool written, std::uint32_t count) noexcept;

  Options const options_;
  unsigned const forks_when_made_;
  std::int64_t const pid_;

  std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> list_{0};  // the list that is being written; no two of the process have the same number
  std::atomic<std::uint64_t> dropped_{0};

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  Destination destination_;
  std::error_code error_;
  TextBuffer waiting_;
  std::uint32_t waiting_records_ = 0;
  bool has_head_ = false;                                 // the bracket is written
  bool has_record_ = false;                               // a record is written
  bool is_first_ = true;                                  // no record is written or waits
  std::unordered_map<std::uint64_t, KnownTrack> tracks_;  // by number: those that are no threads, or, as the reference, all

  ChromeOutput* next_abandoned_ = nullptr;
};

// What stands in names of files for the moment: microseconds since 1970.
std::string default_trace_path();

}  // namespace tracing::inline v1::internal
