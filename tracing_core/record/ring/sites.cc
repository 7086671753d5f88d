#include "tracing_core/record/ring/sites.h"

#include <algorithm>
#include <cstring>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// The size of the text up to the end of the names of fields and of the specifications, which follow the other names.
std::uint32_t text_size(MetadataParts const& parts) noexcept {
  std::uint32_t size =
      parts.name_size + parts.target_size + parts.function_size + parts.module_path_size + parts.message_size;
  for (std::uint32_t i = 0; i < parts.field_count; ++i) {
    FieldEntry const& field = parts.fields[i];
    if (field.value_index != kMessageValue) size = std::max(size, field.offset + field.size);
  }
  for (std::uint32_t i = 0; i < parts.placeholder_count; ++i)
    size = std::max(size, parts.placeholders[i].spec_offset + parts.placeholders[i].spec_size);
  return size;
}

std::uint32_t size_of(char const* text) noexcept {
  return text == nullptr ? 0 : static_cast<std::uint32_t>(std::strlen(text));
}

// The name as it is recorded: all of it, or its beginning and a mark.
struct RecordedName {
  explicit RecordedName(MetadataParts const& parts) noexcept : kept(parts.name_size), size(parts.name_size) {
    if (!parts.owned || parts.name_size <= kMaxRunTimeName) return;
    mark.append("... (");
    mark.append_uint(parts.name_size);
    mark.append(" bytes)");
    kept = static_cast<std::uint32_t>(cut_size({parts.text, parts.name_size}, kMaxRunTimeName - mark.size()));
    size = kept + static_cast<std::uint32_t>(mark.size());
  }

  std::uint32_t kept;
  InlineTextBuffer<64> mark;
  std::uint32_t size;
};

std::uint8_t flags_of(MetadataParts const& parts) noexcept {
  return static_cast<std::uint8_t>(
      (parts.has_module_path ? kSiteHasModulePath : 0) | (parts.has_message ? kSiteHasMessage : 0) |
      (parts.is_perf ? kSiteIsPerf : 0) | (parts.ends_perf_span ? kSiteEndsPerfSpan : 0) |
      (parts.file != nullptr ? kSiteHasFile : 0) | (parts.has_line_zero ? kSiteHasLineZero : 0) |
      (parts.is_for_caller ? kSiteIsForCaller : 0));
}

SiteRow row_of(Metadata const& metadata, RecordedName const& name) noexcept {
  MetadataParts const& parts = metadata.parts();
  SiteRow row{};
  row.kind = static_cast<std::uint8_t>(parts.kind);
  row.level = static_cast<std::uint8_t>(parts.level);
  row.max_level = static_cast<std::uint8_t>(parts.max_level);
  row.flags = flags_of(parts);
  row.field_count = parts.field_count;
  row.unnamed_count = parts.unnamed_count;
  row.value_count = parts.value_count;
  row.placeholder_count = parts.placeholder_count;
  row.line = metadata.line();
  row.name_size = name.size;
  row.target_size = parts.target_size;
  row.function_size = parts.function_size;
  row.module_path_size = parts.module_path_size;
  row.message_size = parts.message_size;
  row.text_size = text_size(parts) - parts.name_size + name.size;
  row.file_size = size_of(parts.file);
  row.arguments_size = size_of(parts.arguments);
  return row;
}

std::size_t hash_of(Metadata const& metadata) noexcept {
  return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(&metadata) >> 3) * 0x9e3779b97f4a7c15u >> 32);
}

}  // namespace

std::size_t size_of_site(Metadata const& metadata) noexcept {
  MetadataParts const& parts = metadata.parts();
  return padded_to_word(sizeof(RecordHead) + sizeof(SiteRow) +
                        (std::size_t{parts.field_count} + parts.unnamed_count) * sizeof(SiteField) +
                        parts.placeholder_count * sizeof(SitePlaceholder) + text_size(parts) - parts.name_size +
                        RecordedName(parts).size + size_of(parts.file) + size_of(parts.arguments));
}

void write_site(char* to, Metadata const& metadata, std::uint32_t number) noexcept {
  MetadataParts const& parts = metadata.parts();
  RecordedName const name(parts);
  std::uint32_t const removed = parts.name_size - name.size;
  RecordHead head{};
  head.site = number;
  head.words = static_cast<std::uint16_t>(size_of_site(metadata) / 8);
  head.type = RecordType::site;
  head.flags = kRestated;
  SiteRow const row = row_of(metadata, name);
  auto const put = [&to](void const* from, std::size_t size) {
    if (size != 0) std::memcpy(to, from, size);
    to += size;
  };
  char const* const end = to + std::size_t{head.words} * 8;
  put(&head, sizeof(head));
  put(&row, sizeof(row));
  for (std::uint32_t i = 0; i < std::uint32_t{parts.field_count} + parts.unnamed_count; ++i) {
    FieldEntry const& entry = parts.fields[i];
    SiteField const field{entry.offset - removed, entry.size | std::uint32_t{entry.value_index} << 24};
    put(&field, sizeof(field));
  }
  for (std::uint32_t i = 0; i < parts.placeholder_count; ++i) {
    MessagePlaceholder const& from = parts.placeholders[i];
    std::uint16_t const spec_size = from.is_own ? 0 : from.spec_size;  // the recorded text was printed by it
    SitePlaceholder const placeholder{from.offset, from.spec_offset - removed, spec_size, from.value_index};
    put(&placeholder, sizeof(placeholder));
  }
  put(parts.text, name.kept);
  put(name.mark.data(), name.mark.size());
  put(parts.text + parts.name_size, row.text_size - name.size);
  put(parts.file, row.file_size);
  put(parts.arguments, row.arguments_size);
  std::memset(to, 0, static_cast<std::size_t>(end - to));
}

Sites::Entry* Sites::find(Metadata const& metadata) const noexcept {
  Entry* const entries = entries_.load(std::memory_order_acquire);
  if (entries == nullptr) return nullptr;
  for (std::size_t i = hash_of(metadata) % kEntries;; i = (i + 1) % kEntries) {
    Metadata const* const found = entries[i].metadata.load(std::memory_order_acquire);
    if (found == &metadata || found == nullptr) return &entries[i];
  }
}

Sites::Sites(Region& region) noexcept : region_(region), forks_when_made_(fork_count()) {}

Metadata const* Sites::of_number(std::uint32_t number) const noexcept {
  auto const* const all = by_number_.load(std::memory_order_acquire);
  return all == nullptr || number > kMaxSites ? nullptr : all[number].load(std::memory_order_acquire);
}

std::uint32_t Sites::number_of(Metadata const& metadata) noexcept {
  Entry const* const found = find(metadata);
  if (found != nullptr && found->metadata.load(std::memory_order_acquire) != nullptr) return found->number;
  // In a forked child, another thread of the parent may have held it: then each chunk describes the callsite for
  // itself.
  if (forks_when_made_ == fork_count()) {
    mutex_.lock();
  } else if (!mutex_.try_lock()) {
    return 0;
  }
  std::uint32_t const number = add(metadata);
  mutex_.unlock();
  return number;
}

std::uint32_t Sites::add(Metadata const& metadata) noexcept {
  if (by_number_.load(std::memory_order_relaxed) == nullptr) {
    by_number_.store(
        reinterpret_cast<std::atomic<Metadata const*>*>(numbered_pages_.map((kMaxSites + 1) * sizeof(Metadata const*))),
        std::memory_order_release);
  }
  if (entries_.load(std::memory_order_relaxed) == nullptr)
    entries_.store(reinterpret_cast<Entry*>(pages_.map(kEntries * sizeof(Entry))), std::memory_order_release);
  Entry* const entry = find(metadata);
  if (entry == nullptr) return 0;
  if (entry->metadata.load(std::memory_order_relaxed) != nullptr) return entry->number;  // by another thread meanwhile
  std::size_t const bytes = size_of_site(metadata);
  if (count_ == kMaxSites || bytes > kChunkBytes) return 0;
  std::uint32_t used =
      chunk_ == Region::kNone ? kChunkBytes : region_.head(chunk_).used.load(std::memory_order_relaxed);
  if (used + bytes > kChunkBytes) {
    std::uint32_t const chunk = region_.take();
    if (chunk == Region::kNone) return 0;
    region_.add_track();  // this chunk is on top of the limit
    ChunkHead& head = region_.head(chunk);
    head.used.store(0, std::memory_order_relaxed);
    head.track = 0;
    head.first_ticks = ticks_now();
    head.first_record = head.first_span = head.last_ticks = 0;
    head.tag = head.records = 0;
    head.tag_changes = 0;
    head.importance = Importance::usual;
    head.has_first = 0;
    region_.publish(chunk);
    chunk_ = chunk;
    used = 0;
  }
  write_site(region_.chunk(chunk_) + used, metadata, ++count_);
  region_.head(chunk_).used.store(used + static_cast<std::uint32_t>(bytes), std::memory_order_release);
  entry->number = count_;
  if (auto* const all = by_number_.load(std::memory_order_relaxed); all != nullptr)
    all[count_].store(&metadata, std::memory_order_release);
  entry->metadata.store(&metadata, std::memory_order_release);
  return count_;
}

}}}  // namespace tracing::v1::internal
