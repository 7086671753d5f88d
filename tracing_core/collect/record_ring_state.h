// RingState: the records of a RecordRing, and the spans and tracks that these refer to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/record_layout.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/internal/mutex.h"
#include "tracing_core/internal/zeroed_pages.h"

namespace tracing::inline v1 {

class RecordRing;

namespace internal {

// Objects addressed by index, in pages that never move. Pages are small, because all of a page is initialised when it
// is allocated.
template <class T, std::uint32_t kPageSize, std::uint32_t kPages>
class Table {
 public:
  static constexpr std::size_t kDirectoryBytes = kPages * sizeof(T*);

  // REQUIRES: called first; `zeroes` are kDirectoryBytes that live as long as the table.
  void keep_directory_in(void* zeroes) noexcept { pages_ = static_cast<T**>(zeroes); }
  ~Table() {
    for (std::uint32_t i = 0; i < size_; i += kPageSize) delete[] pages_[i / kPageSize];
  }
  std::uint32_t size() const noexcept { return size_; }
  T& operator[](std::uint32_t index) const noexcept { return pages_[index / kPageSize][index % kPageSize]; }
  // Null if the table is full or memory runs out.
  T* take() noexcept {
    if (free_.empty() && !grow()) return nullptr;
    T& taken = (*this)[free_.back()];
    free_.pop_back();
    return &taken;
  }
  void give_back(T& object) noexcept { free_.push_back(object.index); }  // within the capacity that grow() reserved

 private:
  bool grow() noexcept {
    if (size_ / kPageSize == kPages) return false;
    T* const page = new (std::nothrow) T[kPageSize];
    if (page == nullptr) return false;
    try {
      free_.reserve(size_ + kPageSize);
    } catch (...) {
      delete[] page;
      return false;
    }
    pages_[size_ / kPageSize] = page;
    for (std::uint32_t i = kPageSize; i > 0; --i) {
      page[i - 1].index = size_ + i - 1;
      free_.push_back(size_ + i - 1);
    }
    size_ += kPageSize;
    return true;
  }

  T** pages_ = nullptr;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> free_;
};

// Metadata to be released after the ring's lock, because releasing the last reference takes the dispatcher's lock.
class DeferredReleases {
 public:
  void add(Metadata const& metadata) noexcept {
    if (count_ < list_.size()) {
      list_[count_++] = &metadata;
      return;
    }
    try {
      more_.push_back(&metadata);
    } catch (...) {  // out of memory: it is never freed
    }
  }
  void release_all() noexcept {
    for (; count_ > 0; --count_) release(*list_[count_ - 1]);
    for (Metadata const* const metadata : more_) release(*metadata);
    more_.clear();
  }

 private:
  std::array<Metadata const*, 8> list_;
  std::size_t count_ = 0;
  std::vector<Metadata const*> more_;
};

// The data that a ring and its layers share.
struct RingState {
  Mutex mutex;
  RingState* next = nullptr;  // guarded by the mutex of the list of rings
  std::atomic<std::uint32_t> tag{0};
  std::atomic<std::uint64_t> next_number{0};
  std::atomic<std::uint64_t> count{0};  // of stored records
  std::atomic<std::uint64_t> dropped{0};

  struct Dropped {
    std::uint32_t tag;
    std::uint64_t count;
  };
  static constexpr std::size_t kDroppedTags = 256;

  // Guarded by mutex. Records are in [tail, head) or, if head <= tail, in [tail, wrap) and [0, head).
  char* bytes = nullptr;
  std::size_t capacity = 0;
  std::size_t head = 0, tail = 0, wrap = 0;
  bool dying = false;  // the process crashes: nothing is allocated or freed any more
  std::uint64_t last_span_number = 0;
  ZeroedPages room;  // the records, followed by sparsely used tables
  Dropped* dropped_by_tag = nullptr;
  Table<KnownSpan, 32, 65536> spans;
  Table<KnownTrack, 8, 32768> tracks;
  std::unordered_map<std::uint64_t, std::uint32_t> track_by_number;
  std::array<std::uint32_t, 64> recent_tracks;

  explicit RingState(std::size_t capacity_bytes) noexcept;
  ~RingState();

  std::size_t largest_record() const noexcept { return capacity / 4; }
  KnownSpan* span(std::uint32_t index) noexcept { return index == kNoIndex ? nullptr : &spans[index]; }
  KnownTrack* find_track(Track const& track) noexcept;
  void drop_track(KnownTrack& track) noexcept;
  void drop_span(std::uint32_t index, DeferredReleases& deferred) noexcept;
  void keep_values(KnownSpan& span, char* record, RecordHeader const& header) noexcept;
  void count_dropped(std::uint32_t lost_tag) noexcept;
  void overwrite_oldest(DeferredReleases& deferred) noexcept;
  void make_room(std::size_t size, DeferredReleases& deferred) noexcept;
};

// Cuts each text, bytes value and error in the only group of `values` to at most `max_bytes`, at the end of a
// character, and appends its original size: `"the first of i... (1048576 bytes)"`. Bytes and errors become text.
// Leaves the values unchanged if memory runs out.
void cut_values(StoredValues& values, Metadata const& metadata, std::size_t max_bytes) noexcept;

// A layer that fills `ring`, which `owner` owns.
std::unique_ptr<Layer> make_ring_layer(std::shared_ptr<RecordRing> owner, RingState& ring);

}  // namespace internal
}  // namespace tracing::inline v1
