// Declares ChromeStream, what one thread recorded for a Chrome trace and nobody has written yet.
//
// A stream is a chain of chunks. Its thread puts records behind each other and then says how far they go; whoever writes takes
// them up to there, and gives back the chunks that are behind it:
//
//     chunk: records        chunk: records        chunk: records, room
//                 ^ read until here                        ^ recorded until here
//
// The two share nothing but how far that is, so a record costs no lock. Records are compact: values as they are, the callsite
// by its address, time as the processor's counter has it. Text is made of them by whoever writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// What stands before each record, which takes a multiple of 8 bytes.
struct ChromeRecordHead {
  enum class Kind : std::uint8_t {
    thread,  // of a ChromeThreadRecord: whose the records from here on are
    text,    // of a ChromeTextRecord
    values,  // of a ChromeValuesRecord
  };
  std::uint32_t size;  // with this
  Kind kind;
  char phase;
  std::uint64_t ticks;  // when it was recorded, by ticks_now()
};
// A thread's first record in a list. Followed by the record that names it, where it has a name.
struct ChromeThreadRecord {
  ChromeRecordHead head;
  std::uint64_t list;
  std::int64_t tid;
  std::uint32_t text_size;
};
// A record that is text already, up to its time unless that is there, too.
struct ChromeTextRecord {
  ChromeRecordHead head;
  std::uint32_t text_size;
  bool has_time;
};
// One of a callsite that stays. Followed by groups of values as StoredValues has them, of an end those that are new.
struct ChromeValuesRecord {
  ChromeRecordHead head;
  Metadata const* metadata;
  std::uint64_t id;  // of the root; zero where that does not matter
};

constexpr std::size_t padded_record(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// Room for records.
struct ChromeChunk {
  static constexpr std::size_t kBytes = 64 * 1024;

  std::atomic<ChromeChunk*> next{nullptr};  // also of chunks that nobody uses
  std::size_t capacity = kBytes;
  std::size_t used = 0;  // means something once there is a next one

  // Null where memory ran out.
  static ChromeChunk* make(std::size_t capacity) noexcept;
  static void destroy(ChromeChunk* chunk) noexcept;
  char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
};
static_assert(sizeof(ChromeChunk) % 8 == 0);

class ChromeStream {
 public:
  ChromeStream() noexcept = default;
  ChromeStream(ChromeStream const&) = delete;
  ChromeStream& operator=(ChromeStream const&) = delete;
  ~ChromeStream();

  // ---- the recording thread's ----

  // Room for a record; null where add() has to bring a chunk first. commit() has it read.
  char* reserve(std::size_t bytes) noexcept { return room_ >= bytes ? at_ : nullptr; }
  void commit(std::size_t bytes) noexcept {
    at_ += bytes;
    room_ -= bytes;
    // A used chunk was read on another processor last: its memory is asked for ahead.
    __builtin_prefetch(at_ + kPrefetchBytes, 1);
    __builtin_prefetch(at_ + kPrefetchBytes + 64, 1);
    end_.store(end_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  // Goes on in a new chunk; how much the one before it holds.
  std::size_t add(ChromeChunk* chunk) noexcept;
  std::uint64_t end() const noexcept { return end_.load(std::memory_order_relaxed); }

  std::uint64_t thread_number = 0;
  std::uint64_t list = 0;  // the last one that it recorded for
  std::int64_t tid = 0;    // the thread's number in the trace
  // It has to look whether what it recorded is written when the counter is beyond this.
  std::atomic<std::uint64_t> deadline{0};

  // ---- of whoever writes, one at a time ----

  // All that is recorded by now may be read.
  void look() noexcept { limit_ = end_.load(std::memory_order_acquire); }
  // The next record; null where there is none. Chunks that are behind it are given to `give_back(chunk)`.
  template <class F>
  ChromeRecordHead const* front(F&& give_back) noexcept {
    if (read_ == limit_) return nullptr;
    if (reading_ == nullptr) reading_ = first_;
    for (ChromeChunk* later;
         (later = reading_->next.load(std::memory_order_acquire)) != nullptr && offset_ == reading_->used;) {
      give_back(std::exchange(reading_, later));
      offset_ = 0;
    }
    return reinterpret_cast<ChromeRecordHead const*>(reading_->data() + offset_);
  }
  void pop(std::size_t bytes) noexcept {
    offset_ += bytes;
    read_ += bytes;
  }
  // What was read is written.
  void settle() noexcept { done_.store(read_, std::memory_order_release); }

  struct Reading {  // what the records read so far said
    std::uint64_t list = 0;
    std::int64_t last_ns = INT64_MIN;
    std::int64_t tid = 0;
    std::uint64_t named_in = 0;  // the last file that has the thread's name
    TextBuffer name;             // the record of it
    std::uint32_t tid_size = 0;
    char tid_digits[20];
    std::string_view tid_text() const noexcept { return {tid_digits, tid_size}; }
  };
  Reading reading;

  // ---- anybody's ----

  // How much of it is written. What is recorded and not written waits. Async-signal-safe.
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  bool is_behind() const noexcept { return done() != end_.load(std::memory_order_acquire); }

  ChromeStream* next = nullptr;

 private:
  static constexpr std::size_t kPrefetchBytes = 512;

  // The recording thread's:
  char* at_ = nullptr;
  std::size_t room_ = 0;
  ChromeChunk* chunk_ = nullptr;
  std::atomic<std::uint64_t> end_{0};  // of all that was ever recorded, in bytes
  ChromeChunk* first_ = nullptr;       // stored before that
  // Of whoever writes:
  std::uint64_t limit_ = 0;
  std::uint64_t read_ = 0;
  ChromeChunk* reading_ = nullptr;
  std::size_t offset_ = 0;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace tracing::inline v1::internal
