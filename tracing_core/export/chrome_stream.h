// ChromeStream: the records of one thread for a Chrome trace that are not written yet.
//
// A stream is a chain of chunks. Its thread appends records and publishes how far they go; the writer takes them up to
// there, and gives back the chunks that it has read:
//
//     chunk: records        chunk: records        chunk: records, room
//                 ^ read until here                        ^ recorded until here
//
// The two share only these positions, so a record costs no lock. Records are compact: values as they are, the address
// of the callsite, time as the processor's counter has it. The writer turns them into text.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// The beginning of each record, which takes a multiple of 8 bytes.
struct ChromeRecordHead {
  enum class Kind : std::uint8_t {
    thread,  // a ChromeThreadRecord: the records from here on are of another thread
    text,    // a ChromeTextRecord
    values,  // a ChromeValuesRecord
  };
  std::uint32_t size;  // including the head
  Kind kind;
  char phase;
  std::uint64_t ticks;  // when it was recorded, by ticks_now()
};
// A thread's first record. Followed by the text of the record that names the thread, if it has a name.
struct ChromeThreadRecord {
  ChromeRecordHead head;
  std::int64_t tid;
  std::uint32_t text_size;
};
// A record that is text already, up to its time unless `has_time`.
struct ChromeTextRecord {
  ChromeRecordHead head;
  std::uint32_t text_size;
  bool has_time;
};
// A record of a callsite that lives as long as the program. Followed by groups of values as StoredValues has them;
// those of an end are the ones recorded after the beginning.
struct ChromeValuesRecord {
  ChromeRecordHead head;
  Metadata const* metadata;
  std::uint64_t id;  // the root's; zero if that does not matter
};

constexpr std::size_t padded_record(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// Room for records.
struct ChromeChunk {
  static constexpr std::size_t kBytes = 64 * 1024;

  std::atomic<ChromeChunk*> next{nullptr};  // also links spare chunks
  std::size_t capacity = kBytes;
  std::size_t used = 0;  // valid once there is a next one

  // Null if memory ran out.
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

  // Room for a record; null if add() must bring a chunk first. commit() publishes the record.
  char* reserve(std::size_t bytes) noexcept { return room_ >= bytes ? at_ : nullptr; }
  void commit(std::size_t bytes) noexcept {
    at_ += bytes;
    room_ -= bytes;
    // A used chunk was last read on another processor: fetch its memory ahead.
    __builtin_prefetch(at_ + kPrefetchBytes, 1);
    __builtin_prefetch(at_ + kPrefetchBytes + 64, 1);
    end_.store(end_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  // Goes on in a new chunk. Returns the capacity of the one before.
  std::size_t add(ChromeChunk* chunk) noexcept;
  std::uint64_t end() const noexcept { return end_.load(std::memory_order_relaxed); }

  std::uint64_t thread_number = 0;
  std::int64_t tid = 0;        // the thread's number in the trace
  // When the counter is beyond this, the thread must check whether its records are written.
  std::atomic<std::uint64_t> deadline{0};

  // ---- for the writer, one at a time ----

  // Makes all records published by now readable.
  void look() noexcept { limit_ = end_.load(std::memory_order_acquire); }
  // The next record; null if there is none. Passes chunks that were read to `give_back(chunk)`.
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
  // All records that were read are written.
  void settle() noexcept { done_.store(read_, std::memory_order_release); }

  struct Reading {  // the state after the records read so far
    void set_thread(ChromeThreadRecord const& record) noexcept;

    std::int64_t last_ns = INT64_MIN;
    std::int64_t tid = 0;
    InlineTextBuffer<32> tid_text;  // with what follows it in a record, up to the time
    std::uint64_t named_in = 0;     // the last file that has the thread's name
    TextBuffer name;                // the record that names the thread
  };
  alignas(64) Reading reading;

  // ---- for any thread ----

  // The position up to which records are written. Async-signal-safe.
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  bool is_behind() const noexcept { return done() != end_.load(std::memory_order_acquire); }

  ChromeStream* next = nullptr;

 private:
  static constexpr std::size_t kPrefetchBytes = 512;

  // Of the recording thread. The two parts have cache lines of their own, as each is written with every record.
  alignas(64) char* at_ = nullptr;
  std::size_t room_ = 0;
  ChromeChunk* chunk_ = nullptr;
  std::atomic<std::uint64_t> end_{0};  // bytes ever recorded
  ChromeChunk* first_ = nullptr;       // stored before that
  // Of the writer:
  alignas(64) std::uint64_t limit_ = 0;
  std::uint64_t read_ = 0;
  ChromeChunk* reading_ = nullptr;
  std::size_t offset_ = 0;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace tracing::inline v1::internal
