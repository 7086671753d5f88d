#include "tracing_core/collect/record_ring_state.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/never_destroyed.h"
#include "tracing_core/internal/utf8.h"
#include "tracing_core/model/value.h"

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

// ---- large values ----

namespace {

// What can be cut: the bytes of a text or bytes value, or an error's own text without sources. Empty for other kinds.
std::string_view bytes_of(Value const& value) noexcept {
  std::string_view bytes;
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: return value.as_text();
    case ValueKind::error:
      value.error_type().visit(value.as_pointer(), &bytes, [](void* context, std::string_view text) {
        auto& first = *static_cast<std::string_view*>(context);
        if (first.data() == nullptr) first = text;
      });
      return bytes;
    default: return {};
  }
}

std::string cut(ValueKind kind, std::string_view bytes, std::size_t max_bytes) {
  std::string text;
  if (kind == ValueKind::bytes) {
    InlineTextBuffer<256> printed;
    append_debug(printed, Value::of_bytes(bytes.data(), max_bytes / 4));  // each prints as three or four characters
    text = printed.view();
  } else {
    text = bytes.substr(0, internal::char_start(bytes, max_bytes));
  }
  return text.append("... (").append(std::to_string(bytes.size())).append(" bytes)");
}

}  // namespace

namespace internal {

void cut_values(StoredValues& values, Metadata const& metadata, std::size_t max_bytes) noexcept {
  try {
    DecodedValues decoded;
    StoredValues::decode_group(values.data(), 0, metadata, decoded);
    std::size_t const count = metadata.parts().value_count;
    std::vector<Value> shorter(decoded.data(), decoded.data() + count);
    std::vector<std::string> texts(count);
    for (std::size_t i = 0; i < count; ++i) {
      Value& value = shorter[i];
      std::string_view const bytes = bytes_of(value);
      if (bytes.size() <= max_bytes) continue;
      texts[i] = cut(value.kind(), bytes, max_bytes);
      value = value.kind() == ValueKind::text ? Value::of_text(texts[i]) : Value::of_verbatim(texts[i]);
    }
    StoredValues fresh;
    if (fresh.start(metadata, shorter.data())) fresh.keep_payloads();
    values.copy_from(fresh);
  } catch (...) {
  }
}

void fold_values(RecordedSpan& span, char const* group, std::size_t size) noexcept {
  constexpr std::size_t kMaxBytes = 16384;
  span.values.add_stored(group, size, 1);
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
