// RecordingBytes: the bytes of a recording that no process would write, for tests of readers.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/record/ring/layout.h"

namespace tracing_test {

using tracing::recording::EntryType;

template <class T>
void append(std::string& to, T const& object) {
  to.append(reinterpret_cast<char const*>(&object), sizeof(T));
}

/// A record without values of a callsite; `words` follow the head.
inline std::string record(EntryType type, std::uint32_t site, std::uint8_t flags = 0,
                          std::vector<std::uint64_t> const& words = {}, std::uint8_t first_kind = 0) {
  tracing::internal::RecordHead head{};
  head.site = site;
  head.words = static_cast<std::uint16_t>(2 + words.size());
  head.type = type;
  head.flags = flags;
  head.kinds[0] = first_kind;
  std::string bytes;
  append(bytes, head);
  for (std::uint64_t const word : words) append(bytes, word);
  return bytes;
}

/// An event's callsite; the counts and sizes of names are zero unless a test sets them in `row`.
struct SiteBytes {
  tracing::internal::SiteRow row{};
  std::vector<tracing::internal::SiteField> fields{};
  std::vector<tracing::internal::SitePlaceholder> placeholders{};
  std::string text{};
  std::string file{};

  static constexpr tracing::internal::SiteField kMessage{0, 0xff000000};

  std::string record(std::uint32_t number) const {
    auto out = row;
    out.level = 3;
    out.field_count = static_cast<std::uint8_t>(fields.size());
    out.placeholder_count = static_cast<std::uint8_t>(placeholders.size());
    out.text_size = static_cast<std::uint32_t>(text.size());
    out.file_size = static_cast<std::uint32_t>(file.size());
    if (!file.empty()) out.flags |= tracing::internal::kSiteHasFile;
    std::string content;
    append(content, out);
    for (auto const& field : fields) append(content, field);
    for (auto const& placeholder : placeholders) append(content, placeholder);
    content += text + file;
    content.resize(tracing::support::padded_to_word(content.size()));
    std::vector<std::uint64_t> words(content.size() / 8);
    std::memcpy(words.data(), content.data(), content.size());
    return tracing_test::record(EntryType::site, number, tracing::internal::kRestated, words);
  }
};

/// A text as words that follow the head of a record: of a value, its size twice and its bytes.
inline std::vector<std::uint64_t> text_value(std::string_view text) {
  std::vector<std::uint64_t> words(1 + (text.size() + 7) / 8);
  words[0] = text.size() | text.size() << 32;
  std::memcpy(words.data() + 1, text.data(), text.size());
  return words;
}

/// Chunks in the order in which they are added.
class RecordingBytes {
 public:
  RecordingBytes() {
    tracing::internal::RegionHeader header{};
    std::memcpy(header.magic, tracing::internal::kRecordingMagic, sizeof(header.magic));
    header.version = tracing::internal::kRecordingVersion;
    header.byte_order = tracing::internal::kByteOrderMark;
    header.header_bytes = sizeof(header);
    header.chunk_bytes = tracing::internal::kChunkBytes;
    header.chunk_head_bytes = sizeof(tracing::internal::ChunkHead);
    header.chunks_per_group = tracing::internal::kChunksPerGroup;
    header.ns_per_tick = std::uint64_t{1} << 32;
    append(bytes_, header);
  }
  void add(std::uint64_t track, std::string_view records, std::uint64_t first_record = 0) {
    tracing::internal::ChunkHead head{};
    head.generation = 2;
    head.used = static_cast<std::uint32_t>(records.size());
    head.track = track;
    head.first_record = first_record;
    bytes_.resize(tracing::internal::offset_of_chunk(chunks_) + tracing::internal::kChunkBytes);
    std::memcpy(bytes_.data() + tracing::internal::offset_of_head(chunks_), &head, sizeof(head));
    records.copy(bytes_.data() + tracing::internal::offset_of_chunk(chunks_), records.size());
    ++chunks_;
  }
  std::string const& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::uint32_t chunks_ = 0;
};

}  // namespace tracing_test
