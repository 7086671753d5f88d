#include "tracing_core/collect/record_ring_state.h"

#include <algorithm>
#include <array>

#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1 {
namespace {

using internal::DeferredReleases;
using internal::kNoIndex;
using internal::Mutex;
using internal::MutexLock;
using internal::RingState;

// All rings, whose locks are held during a fork.
struct Rings {
  Mutex mutex;
  RingState* first TRACING_GUARDED_BY(mutex) = nullptr;
};
constinit internal::NeverDestroyed<Rings> rings;

void lock_all() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  rings->mutex.lock();
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.lock();
}
void unlock_all() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.unlock();
  rings->mutex.unlock();
}

[[gnu::constructor]] void register_fork_handler() noexcept {
  internal::set_fork_handler(internal::ForkStage::ring, {lock_all, unlock_all, unlock_all});
}

}  // namespace

internal::RingState::RingState(std::size_t capacity_bytes) noexcept {
  recent_tracks.fill(kNoIndex);
  capacity = std::max<std::size_t>(capacity_bytes, 4096) & ~std::size_t{7};
  bytes = room.map(capacity + decltype(spans)::kDirectoryBytes + decltype(tracks)::kDirectoryBytes +
                   kDroppedTags * sizeof(Dropped));
  if (bytes == nullptr) return;
  char* table = bytes + capacity;
  spans.keep_directory_in(table);
  tracks.keep_directory_in(table += decltype(spans)::kDirectoryBytes);
  dropped_by_tag = reinterpret_cast<Dropped*>(table += decltype(tracks)::kDirectoryBytes);
  MutexLock const lock(rings->mutex);
  next = rings->first;
  rings->first = this;
}

internal::RingState::~RingState() {
  if (bytes == nullptr) return;
  {
    MutexLock const lock(rings->mutex);
    for (RingState** at = &rings->first; *at != nullptr; at = &(*at)->next) {
      if (*at == this) {
        *at = next;
        break;
      }
    }
  }
  DeferredReleases deferred;
  while (count.load(std::memory_order_relaxed) > 0) overwrite_oldest(deferred);
  deferred.release_all();
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (spans[i].known) release(*spans[i].metadata);
  }
}

namespace internal {

void fold_values(RecordedSpan& span, char const* group, std::size_t size, bool may_grow) noexcept {
  constexpr std::size_t kMaxBytes = 16384;
  span.values.add_stored(group, size, 1, may_grow);
  if (span.values.size_bytes() <= kMaxBytes || span.values.group_count() < 2) return;
  // Recorded over and over: keep only the last value of each field.
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
