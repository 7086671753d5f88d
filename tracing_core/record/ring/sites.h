// Sites: gives each callsite a number, and describes it in the recording.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/model/metadata.h"
#include "tracing_core/record/ring/region.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/zeroed_pages.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Describes callsites that live as long as the program. The descriptions have chunks of their own, which are never
/// given away. Thread-safe.
class Sites {
 public:
  explicit Sites(Region& region) noexcept;
  Sites(Sites const&) = delete;
  Sites& operator=(Sites const&) = delete;

  /// The number of a callsite that lives as long as the program. Zero if there are too many callsites, or if there is
  /// no room: then each chunk describes the callsite for itself.
  std::uint32_t number_of(Metadata const& metadata) noexcept;
  /// The callsite of a number; null if no callsite has the number. Async-signal-safe.
  Metadata const* of_number(std::uint32_t number) const noexcept;

 private:
  struct Entry {
    std::atomic<Metadata const*> metadata;  // stored last
    std::uint32_t number;
  };
  static constexpr std::size_t kEntries = std::size_t{1} << 16;
  static constexpr std::uint32_t kMaxSites = kEntries / 2;

  Entry* find(Metadata const& metadata) const noexcept;
  std::uint32_t add(Metadata const& metadata) noexcept TRACING_REQUIRES(mutex_);

  Region& region_;
  unsigned const forks_when_made_;
  ZeroedPages pages_, numbered_pages_;
  std::atomic<Entry*> entries_{nullptr};
  std::atomic<std::atomic<Metadata const*>*> by_number_{nullptr};
  UnseenMutex mutex_;  // locked when a callsite is recorded for the first time
  std::uint32_t count_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint32_t chunk_ TRACING_GUARDED_BY(mutex_) = Region::kNone;
};

/// The size of a `site` record.
std::size_t size_of_site(Metadata const& metadata) noexcept;
/// Writes a `site` record to `to`, which has room for it.
void write_site(char* to, Metadata const& metadata, std::uint32_t number) noexcept;

}}}  // namespace tracing::v1::internal
