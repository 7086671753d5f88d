#include "tracing_core/record/decode/recording_state.h"

#include <algorithm>
#include <utility>

#include "tracing_core/record/decode/recording_parts.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

namespace {

// problems() uses the names of docs/recording-format.md.
constexpr std::size_t kMaxProblems = 20;

// Larger files are not kept in memory.
constexpr std::size_t kMaxInMemory = 16 << 20;

}  // namespace

std::string CutOff::description() const {
  std::string text = "cut off in chunk " + std::to_string(first) + ", which has " + std::to_string(there) + " of " +
                     std::to_string(of) + " bytes of records";
  if (chunks > 1) text += "; missing chunks after it: " + std::to_string(chunks - 1);
  return text;
}

RecordingState::RecordingState() = default;
RecordingState::~RecordingState() = default;

void RecordingState::report(std::string problem) {
  // An earlier for_each() may have reported it.
  bool const is_known = std::find(problems.begin(), problems.end(), problem) != problems.end();
  if (!is_known && problems.size() < kMaxProblems) problems.push_back(std::move(problem));
}

// ---- chunks ----

std::unique_ptr<RecordingState> RecordingState::read_header(RecordingSource const& source, std::string& error) {
  error.clear();
  alignas(RegionHeader) char bytes[sizeof(RegionHeader)];
  if (source.read(0, bytes, sizeof(bytes)) < sizeof(bytes)) {
    error = "is no recording: it has fewer than 4096 bytes";
    return nullptr;
  }
  auto const& header = *reinterpret_cast<RegionHeader const*>(bytes);
  auto const is_zero = [](auto byte) { return byte == 0; };
  if (std::all_of(std::begin(header.magic), std::end(header.magic), is_zero)) {  // is written last
    error = "has no beginning: its process was killed before it recorded anything, or it is no recording";
  } else if (std::memcmp(header.magic, kRecordingMagic, sizeof(kRecordingMagic)) != 0) {
    error = "is no recording: it begins with other bytes";
  } else if (header.byte_order != kByteOrderMark) {
    error = "is a recording of a machine with another byte order";
  } else if (header.version != kRecordingVersion) {
    error = "is a recording of version " + std::to_string(header.version) + "; expected version " +
            std::to_string(kRecordingVersion);
  } else if (header.header_bytes != sizeof(RegionHeader) || header.chunk_bytes != kChunkBytes ||
             header.chunk_head_bytes != sizeof(ChunkHead) || header.chunks_per_group != kChunksPerGroup) {
    error = "is a damaged recording: the sizes in its header are wrong";
  }
  if (!error.empty()) return nullptr;
  std::unique_ptr<RecordingState> made(new RecordingState());
  made->process = header.process;
  made->clock = {header.start_ticks, header.start_ns, header.ns_per_tick.load(std::memory_order_relaxed)};
  made->from_ticks = header.start_ticks;
  made->dropped = header.dropped.load(std::memory_order_relaxed);
  made->growth_error = static_cast<int>(header.growth_error.load(std::memory_order_relaxed));
  made->interrupted = header.interrupted.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < RegionHeader::kLossEntries; ++i) {
    std::uint64_t const entry = header.losses[i].load(std::memory_order_relaxed);
    auto const tag = static_cast<std::uint32_t>(entry >> 40);
    if (tag % RegionHeader::kLossEntries == i && (entry & kMaxLoss) != 0) made->losses[tag] = entry & kMaxLoss;
  }
  return made;
}

std::unique_ptr<RecordingState> RecordingState::read(RecordingSource const& source, std::uint64_t since_ticks,
                                                     std::string& error) {
  auto made = read_header(source, error);
  if (made != nullptr) made->read_all_chunks(source, since_ticks);
  return made;
}

std::unique_ptr<RecordingState> RecordingState::read(std::unique_ptr<RecordingSource>& source, std::string& error) {
  auto made = read_header(*source, error);
  if (made == nullptr) return nullptr;
  RecordingSource const& bytes = *source;
  if (bytes.can_read_later() && bytes.size() > kMaxInMemory) made->source_ = std::move(source);
  made->read_all_chunks(bytes, 0);
  return made;
}

void RecordingState::read_all_chunks(RecordingSource const& source, std::uint64_t since_ticks) {
  CutOff cut;
  // The writer describes a callsite before its first record. So reading the descriptions after the records finds all of
  // them.
  for (Content const content : {Content::records, Content::sites})
    source.for_each_chunk(
        [&](std::uint32_t i, ChunkHead const& head) { read_chunk(source, i, head, content, cut, since_ticks); });
  if (cut.chunks > 0) report(cut.description());
  if (std::string problem = source.problem(); !problem.empty())  // explains the others
    problems.insert(problems.begin(), std::move(problem));
  for (auto& [track, of_track] : chunks_by_track()) add_track(std::move(of_track));
  sort_threads();
}

// In the order of their records.
std::map<std::uint64_t, std::vector<RecordedChunk*>> RecordingState::chunks_by_track() {
  std::map<std::uint64_t, std::vector<RecordedChunk*>> by_track;
  for (RecordedChunk& chunk : chunks) {
    if (chunk.track != 0) by_track[chunk.track].push_back(&chunk);
  }
  for (auto& [track, of_track] : by_track) {
    std::sort(of_track.begin(), of_track.end(), [](RecordedChunk const* a, RecordedChunk const* b) {
      return std::pair(a->first_record, a->first_ticks) < std::pair(b->first_record, b->first_ticks);
    });
  }
  return by_track;
}

// Returns the first chunk of the next group that is not in a hole of the file, so that a sparse file takes time only
// for what is on the disk.
std::uint32_t RecordingSource::next_group(std::uint32_t first) const noexcept {
  std::size_t const next = offset_of_head(first + kChunksPerGroup);
  std::size_t const data = next_data(next);
  if (data >= offset_of_head(kMaxChunks)) return kMaxChunks;
  auto const group = static_cast<std::uint32_t>((std::max(data, next) - sizeof(RegionHeader)) / kGroupBytes);
  return group * kChunksPerGroup;
}

void RecordingState::read_chunk(RecordingSource const& source, std::uint32_t number, ChunkHead const& head,
                                Content content, CutOff& cut, std::uint64_t since_ticks, int attempts) {
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  std::uint32_t const used = head.used.load(std::memory_order_relaxed);
  if (generation == 0 || generation % 2 != 0) return;  // just being taken
  if (head.last_ticks != 0 && head.last_ticks < since_ticks) return;
  if ((head.track == 0) != (content == Content::sites)) return;
  std::string const name = "chunk " + std::to_string(number);
  if (used > kChunkBytes || used % 8 != 0) return report(name + ": its size is wrong");
  if (used > 0 && source.next_data(offset_of_chunk(number)) >= offset_of_chunk(number) + used)
    return report(name + ": its bytes are a hole of the file");
  RecordedChunk chunk;
  chunk.generation = generation;
  chunk.track = head.track;
  chunk.first_ticks = head.first_ticks;
  chunk.first_record = head.first_record;
  chunk.first_span = head.first_span;
  chunk.tag = head.tag;
  chunk.number = number;
  if (source_ != nullptr) chunk.words.swap(spare_words_);
  chunk.words.resize(used / 8);
  std::size_t const there = source.read(offset_of_chunk(number), chunk.words.data(), used);
  alignas(ChunkHead) char bytes[sizeof(ChunkHead)];
  auto const& after = *reinterpret_cast<ChunkHead const*>(bytes);
  if (source.read(offset_of_head(number), bytes, sizeof(bytes)) < sizeof(bytes)) return;
  if (after.generation.load(std::memory_order_relaxed) != generation) {  // it changed hands since its head was read
    if (attempts > 1) read_chunk(source, number, after, content, cut, since_ticks, attempts - 1);
    return;
  }
  if (there < used) {
    cut.add(number, there, used);
    chunk.cut_off(there);
  }
  take_in(chunks.emplace_back(std::move(chunk)), 0, source);
  if (source_ != nullptr) chunks.back().words.swap(spare_words_);
}

bool RecordingState::read_more(RecordingSource const& source, RecordedChunk& chunk) {
  alignas(ChunkHead) char bytes[sizeof(ChunkHead)];
  auto const& head = *reinterpret_cast<ChunkHead const*>(bytes);
  auto const is_same = [&] {
    return source.read(offset_of_head(chunk.number), bytes, sizeof(bytes)) == sizeof(bytes) &&
           head.generation.load(std::memory_order_relaxed) == chunk.generation;
  };
  if (!is_same()) return false;
  std::size_t const from = chunk.size();
  std::size_t const used = std::min(head.used.load(std::memory_order_relaxed) & ~7u, kChunkBytes);
  if (used <= from) return true;
  chunk.words.resize(used / 8);
  source.read(offset_of_chunk(chunk.number) + from, chunk.words.data() + from / 8, used - from);
  if (!is_same()) return chunk.words.resize(from / 8), false;
  take_in(chunk, from, source);
  return true;
}

// Counts the records from a byte of the chunk on, and reads what any record may refer to, and threads, so that they
// have names from their first record on.
void RecordingState::take_in(RecordedChunk& chunk, std::size_t from, RecordingSource const& source) {
  chunk.bytes = static_cast<std::uint32_t>(chunk.size());
  record_bytes_ += chunk.bytes - from;
  std::size_t at = from;
  while (at + sizeof(RecordHead) <= chunk.size()) {
    auto const head = load<RecordHead>(chunk.data() + at);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(RecordHead) || bytes > chunk.size() - at) break;  // reported when the records are read
    ++counts_[static_cast<std::uint8_t>(head.type)];
    chunk.records += (head.flags & kRestated) == 0;
    std::string_view const content(chunk.data() + at + sizeof(RecordHead), bytes - sizeof(RecordHead));
    chunk.summary.add(head, content, at);
    if (head.type == RecordType::site || head.type == RecordType::track || head.type == RecordType::thread)
      read_description(chunk, head, content, at, source);
    at += bytes;
  }
  chunk.is_sound &= at == chunk.size();
}

std::string_view RecordingState::records_of(RecordedChunk const& chunk, std::vector<std::uint64_t>& buffer) const {
  if (source_ == nullptr) return {chunk.data(), chunk.size()};
  if (buffer.size() < chunk.bytes / 8) buffer.resize(chunk.bytes / 8);
  alignas(ChunkHead) char bytes[sizeof(ChunkHead)];
  auto const& head = *reinterpret_cast<ChunkHead const*>(bytes);
  bool const is_there = source_->read(offset_of_chunk(chunk.number), buffer.data(), chunk.bytes) == chunk.bytes &&
                        source_->read(offset_of_head(chunk.number), bytes, sizeof(bytes)) == sizeof(bytes) &&
                        head.generation.load(std::memory_order_relaxed) == chunk.generation;
  return {reinterpret_cast<char const*>(buffer.data()), is_there ? chunk.bytes : 0};
}

Metadata const* RecordingState::callsite(RecordedChunk const& chunk, std::uint32_t number) const noexcept {
  auto const& described = number >= kLocalSite ? chunk.sites : sites;
  std::uint32_t const index = (number & ~kLocalSite) - 1;
  return index < described.size() && described[index] != nullptr ? &described[index]->metadata() : nullptr;
}

std::uint64_t RecordingState::known_track(std::uint64_t foreign) {
  constexpr std::size_t kMaxForeign = 1 << 14;
  if (foreign_tracks_.contains(foreign)) return foreign;
  if (foreign_tracks_.size() < kMaxForeign) return foreign_tracks_.insert(foreign), foreign;
  report("it has more than 16384 tracks that are no threads; the others are shown as one");
  return kMarksTrack - 1;
}

std::string_view RecordingState::name_of_foreign(std::uint64_t track) const {
  auto const found = foreign_names_.find(track);
  return found == foreign_names_.end() ? std::string_view() : found->second;
}

// Keeps the records that are complete in this many bytes.
void RecordedChunk::cut_off(std::size_t bytes_there) {
  std::size_t end = 0;
  while (end + sizeof(RecordHead) <= bytes_there) {
    std::size_t const size = std::max(std::size_t{load<RecordHead>(data() + end).words} * 8, sizeof(RecordHead));
    if (size > bytes_there - end) break;
    end += size;
  }
  words.resize(end / 8);
}

void RecordingState::read_description(RecordedChunk& chunk, RecordHead const& head, std::string_view content,
                                      std::size_t at, RecordingSource const& source) {
  switch (head.type) {
    case RecordType::site: return read_site(chunk, at, max_sites_in(source.size(), record_bytes_));
    case RecordType::track: return read_thread_name(chunk, content, head.flags);
    case RecordType::thread: {
      if (content.size() < 8) return;
      Thread thread{.number = load<std::uint64_t>(content.data())};
      if (read_thread(content.substr(8), thread)) threads.push_back(std::move(thread));
      return;
    }
    default: return;
  }
}

void RecordingState::read_thread_name(RecordedChunk& chunk, std::string_view content, std::uint8_t flags) {
  if ((flags & kForeign) == 0) {
    chunk.thread = content;
    return;
  }
  Thread foreign;
  if (read_thread(content, foreign)) foreign_names_[static_cast<std::uint64_t>(foreign.os_thread)] = foreign.name;
}

void RecordingState::read_site(RecordedChunk& chunk, std::size_t at, std::size_t max_sites) {
  auto const head = load<RecordHead>(chunk.data() + at);
  bool const is_local = head.site >= kLocalSite;
  std::uint32_t const number = is_local ? head.site - kLocalSite : head.site;
  std::size_t const max_number = is_local ? kChunkBytes / sizeof(RecordHead) : max_sites;
  auto site = RecordedSite::read({chunk.data() + at + sizeof(head), std::size_t{head.words} * 8 - sizeof(head)});
  if (site == nullptr || number == 0 || number > max_number)
    return report("chunk " + std::to_string(chunk.number) + ", byte " + std::to_string(at) +
                  ": the description of a callsite makes no sense");
  auto& described = is_local ? chunk.sites : sites;
  if (described.size() < number) described.resize(number);
  std::swap(described[number - 1], site);
  if (site != nullptr) replaced_sites_.push_back(std::move(site));
}

void RecordingState::add_track(std::vector<RecordedChunk*> of_track) {
  TrackSummary track;
  track.number = track.thread.number = of_track.front()->track;
  for (RecordedChunk const* const chunk : of_track)
    (void)read_thread(chunk->thread, track.thread);  // the last name is the best known
  threads.push_back(track.thread);
  tracks.push_back(std::move(track));
  chunks_of_tracks.push_back(std::move(of_track));
}

// Each chunk describes its thread again.
void RecordingState::sort_threads() {
  std::stable_sort(threads.begin(), threads.end(),
                   [](Thread const& a, Thread const& b) { return a.number < b.number; });
  auto const same = [](Thread const& a, Thread const& b) { return a.number == b.number; };
  threads.erase(std::unique(threads.begin(), threads.end(), same), threads.end());
}

Thread RecordingState::thread(std::uint64_t number) const {
  auto const found = std::lower_bound(threads.begin(), threads.end(), number,
                                      [](Thread const& a, std::uint64_t b) { return a.number < b; });
  return found != threads.end() && found->number == number ? *found : Thread{.number = number};
}

}}}  // namespace tracing::v1::recording
