#include "tracing_core/collect/record_ring_state.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1 {
namespace {

using internal::Garbage;
using internal::kNoIndex;
using internal::RingState;

// All rings, so that none is in the middle of something when the process forks.
struct Rings {
  std::mutex mutex;
  RingState* first = nullptr;
};
constinit internal::NeverDestroyed<Rings> rings;

void lock_all() noexcept {
  rings->mutex.lock();
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.lock();
}
void unlock_all() noexcept {
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.unlock();
  rings->mutex.unlock();
}

// At the latest when it is first needed; as a rule before there are threads, since a child that is forked while one of them
// does it would wait for that thread, which it does not have.
[[gnu::constructor]] void prepare_fork_once() noexcept {
  [[maybe_unused]] static bool const prepared = pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
}

}  // namespace

internal::RingState::RingState(std::size_t capacity_bytes) noexcept {
  recent_tracks.fill(kNoIndex);
  capacity = std::max<std::size_t>(capacity_bytes, 4096) & ~std::size_t{7};
  bytes = room.map(capacity + decltype(spans)::kDirectoryBytes + decltype(tracks)::kDirectoryBytes +
                   kDroppedTags * sizeof(Dropped));
  if (bytes == nullptr) return;
  char* behind = bytes + capacity;
  spans.keep_directory_in(behind);
  tracks.keep_directory_in(behind += decltype(spans)::kDirectoryBytes);
  dropped_by_tag = reinterpret_cast<Dropped*>(behind += decltype(tracks)::kDirectoryBytes);
  prepare_fork_once();
  std::lock_guard const lock(rings->mutex);
  next = rings->first;
  rings->first = this;
}

internal::RingState::~RingState() {
  if (bytes == nullptr) return;
  {
    std::lock_guard const lock(rings->mutex);
    for (RingState** at = &rings->first; *at != nullptr; at = &(*at)->next) {
      if (*at == this) {
        *at = next;
        break;
      }
    }
  }
  Garbage garbage;
  while (count.load(std::memory_order_relaxed) > 0) overwrite_oldest(garbage);
  garbage.release_all();
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (spans[i].known) release(*spans[i].metadata);
  }
}

namespace internal {

void fold_values(RecordedSpan& span, char const* group, std::size_t size, bool may_grow) noexcept {
  constexpr std::size_t kMost = 16384;
  span.values.add_stored(group, size, 1, may_grow);
  if (span.values.size_bytes() <= kMost || span.values.group_count() < 2) return;
  // Recorded over and over: only the last value of each field is kept.
  std::array<Value, 256> last;
  span.values.for_each_group(*span.metadata, [&](FieldValues const& values) {
    for (std::size_t i = 0; i < span.metadata->parts().value_count; ++i) {
      if (!values.statement_values()[i].is_empty()) last[i] = values.statement_values()[i];
    }
  });
  StoredValues merged;
  merged.add(FieldValues(*span.metadata, last.data()));
  span.values.copy_from(merged);
}

}  // namespace internal

}  // namespace tracing::inline v1
