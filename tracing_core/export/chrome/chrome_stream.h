// ChromeStream: holds the records of one thread that wait to be written to a Chrome trace.
//
// A stream is a chain of chunks. Its thread appends records and publishes how far they go; the writer takes the records
// up to there, and gives back the chunks that it has read:
//
//     chunk: records        chunk: records        chunk: records, room
//                 ^ read until here                        ^ recorded until here
//
// Thread and writer share only these positions, so a record costs no lock. Records are compact: unformatted values, the
// address of the callsite, and for the time a reading of the processor's counter. The writer turns them into text.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/words.h"

namespace tracing { inline namespace v1 { namespace internal {

// The beginning of each record, which takes a multiple of 8 bytes.
struct ChromeRecordHead {
  enum class Kind : std::uint8_t {
    thread,  // a ChromeThreadRecord: the records from here on belong to another thread
    text,    // a ChromeTextRecord
    values,  // a ChromeValuesRecord
  };
  std::uint32_t size;  // including the head
  Kind kind;
  char phase;
  std::uint64_t ticks;  // when it was recorded, by ticks_now()
};
// A thread's first record. Followed by the JSON record that names the thread, if it has a name.
struct ChromeThreadRecord {
  ChromeRecordHead head;
  std::int64_t tid;
  std::uint32_t text_size;
};
// A record that is already text, which follows. It includes the time if `has_time`; otherwise it ends before the time.
struct ChromeTextRecord {
  ChromeRecordHead head;
  std::uint32_t text_size;
  bool has_time;
};
// A record of a callsite that lives as long as the program. Followed by groups of values, encoded as in StoredValues;
// the end of a span has only the groups that were recorded after its beginning.
struct ChromeValuesRecord {
  ChromeRecordHead head;
  Metadata const* metadata;
  std::uint64_t id;  // of the row in the style async; otherwise zero
};

// A block of memory for records, which follows the object.
struct ChromeChunk {
  static constexpr std::size_t kBytes = 64 * 1024;

  std::atomic<ChromeChunk*> next{nullptr};  // also links spare chunks
  std::size_t capacity = kBytes;
  std::size_t used = 0;  // valid once `next` is set

  // Returns null if memory ran out.
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

  // ---- for the recording thread ----

  // Returns room for a record, or null if add() must bring a chunk first. commit() publishes the record.
  char* reserve(std::size_t bytes) noexcept { return room_ >= bytes ? at_ : nullptr; }
  void commit(std::size_t bytes) noexcept {
    at_ += bytes;
    room_ -= bytes;
    // A reused chunk was last read on another processor, so fetch its memory ahead.
    __builtin_prefetch(at_ + kPrefetchBytes, 1);
    __builtin_prefetch(at_ + kPrefetchBytes + 64, 1);
    end_.store(end_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  // Continues in a new chunk. Returns the capacity of the chunk before, or 0 if this is the first.
  std::size_t add(ChromeChunk* chunk) noexcept;
  std::uint64_t end() const noexcept { return end_.load(std::memory_order_relaxed); }

  std::uint64_t thread_number = 0;
  std::int64_t tid = 0;  // the thread's number in the trace
  // A record with later ticks than this makes the thread check whether its records are written.
  std::atomic<std::uint64_t> deadline{0};

  // ---- for the writer, one at a time ----

  // Makes all records published by now readable.
  void look() noexcept { limit_ = end_.load(std::memory_order_acquire); }
  // Returns the next record, or null at the end. Passes chunks that were read to `give_back(chunk)`.
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
  // Publishes that all records read so far are written.
  void settle() noexcept { done_.store(read_, std::memory_order_release); }

  struct Reading {  // the state after the records read so far
    void set_thread(ChromeThreadRecord const& record) noexcept;

    std::int64_t last_ns = INT64_MIN;
    std::int64_t tid = 0;
    InlineTextBuffer<32> tid_text;  // the part of a record from `tid` up to the time
    std::uint64_t named_in = 0;     // the last file that the thread's name was written to
    TextBuffer name;                // the record that names the thread
  };
  alignas(64) Reading reading;

  // ---- for any thread ----

  // Returns the position up to which records are written. Async-signal-safe.
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  bool is_behind() const noexcept { return done() != end_.load(std::memory_order_acquire); }

  ChromeStream* next = nullptr;

 private:
  static constexpr std::size_t kPrefetchBytes = 512;

  // For the recording thread. Its fields and the writer's are on different cache lines, since both change with every
  // record.
  alignas(64) char* at_ = nullptr;
  std::size_t room_ = 0;
  ChromeChunk* chunk_ = nullptr;
  std::atomic<std::uint64_t> end_{0};  // bytes ever recorded
  ChromeChunk* first_ = nullptr;       // stored before end_ is published
  // For the writer:
  alignas(64) std::uint64_t limit_ = 0;
  std::uint64_t read_ = 0;
  ChromeChunk* reading_ = nullptr;
  std::size_t offset_ = 0;
  std::atomic<std::uint64_t> done_{0};
};

}}}  // namespace tracing::v1::internal
