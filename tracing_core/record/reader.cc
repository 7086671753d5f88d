#include "tracing_core/record/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "tracing_core/model/stored_values.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/region.h"

namespace tracing::inline v1::internal {

namespace {

// The kinds of values up to ValueKind::redacted, and how many words each takes.
constexpr std::size_t words_of_kind(std::uint8_t kind) noexcept {
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::empty:
    case ValueKind::redacted: return 0;
    case ValueKind::i128:
    case ValueKind::u128: return 2;
    default: return 1;
  }
}
constexpr bool is_text_kind(std::uint8_t kind) noexcept { return kind >= static_cast<std::uint8_t>(ValueKind::text); }

template <class T>
T load(char const* at) noexcept {
  T out;
  std::memcpy(&out, at, sizeof(T));
  return out;
}

// Names in problems() are those of the format's description.
constexpr std::size_t kMaxProblems = 20;

}  // namespace

// Bytes that another process or thread may be writing to.
class Recording::Source {
 public:
  Source() = default;
  Source(Source const&) = delete;
  Source& operator=(Source const&) = delete;
  virtual ~Source() = default;
  virtual std::size_t size() const noexcept = 0;
  // False if there are not so many bytes.
  virtual bool read(std::size_t offset, void* to, std::size_t bytes) const noexcept = 0;
};

struct Recording::Chunk {
  std::uint64_t generation = 0;
  std::uint64_t track = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t first_record = 0;
  std::uint64_t first_span = 0;
  std::uint32_t tag = 0;
  std::uint32_t number = 0;  // its place in the recording
  std::vector<std::uint64_t> words{};
  std::vector<std::unique_ptr<RecordedSite>> sites{};  // described in it, from kLocalSite + 1

  char const* data() const noexcept { return reinterpret_cast<char const*>(words.data()); }
  std::size_t size() const noexcept { return words.size() * 8; }
};

Recording::Recording() = default;
Recording::~Recording() = default;

void Recording::report(std::string problem) {
  if (problems_.size() < kMaxProblems) problems_.push_back(std::move(problem));
}

// ---- chunks ----

std::unique_ptr<Recording> Recording::read(Source const& source, std::string& error) {
  alignas(RegionHeader) char bytes[sizeof(RegionHeader)];
  if (!source.read(0, bytes, sizeof(bytes))) {
    error = "is no recording: it has fewer than 4096 bytes";
    return nullptr;
  }
  auto const& header = *reinterpret_cast<RegionHeader const*>(bytes);
  if (std::memcmp(header.magic, kRecordingMagic, sizeof(kRecordingMagic)) != 0) {
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
  std::unique_ptr<Recording> made(new Recording());
  made->process_ = header.process;
  made->start_ticks_ = header.start_ticks;
  made->start_ns_ = header.start_ns;
  made->ns_per_tick_ = header.ns_per_tick.load(std::memory_order_relaxed);
  made->dropped_ = header.dropped.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; offset_of_chunk(i) < source.size(); ++i) made->read_chunk(source, i);
  made->read_sites();
  std::map<std::uint64_t, std::vector<Chunk*>> by_track;
  for (Chunk& chunk : made->chunks_) {
    if (chunk.track != 0) by_track[chunk.track].push_back(&chunk);
  }
  for (auto& [track, chunks] : by_track) made->add_track(std::move(chunks));
  return made;
}

void Recording::read_chunk(Source const& source, std::uint32_t number) {
  alignas(ChunkHead) char bytes[sizeof(ChunkHead)];
  auto const& head = *reinterpret_cast<ChunkHead const*>(bytes);
  auto const name = [number] { return "chunk " + std::to_string(number); };
  if (!source.read(offset_of_head(number), bytes, sizeof(bytes))) return report(name() + ": is cut off");
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  std::uint32_t const used = head.used.load(std::memory_order_relaxed);
  if (generation == 0 || generation % 2 != 0) return;  // never used, or just being taken
  if (used > kChunkBytes || used % 8 != 0) return report(name() + ": its size is wrong");
  Chunk chunk;
  chunk.generation = generation;
  chunk.track = head.track;
  chunk.first_ticks = head.first_ticks;
  chunk.first_record = head.first_record;
  chunk.first_span = head.first_span;
  chunk.tag = head.tag;
  chunk.number = number;
  chunk.words.resize(used / 8);
  if (!source.read(offset_of_chunk(number), chunk.words.data(), used)) return report(name() + ": is cut off");
  if (!source.read(offset_of_head(number), bytes, sizeof(bytes))) return;
  if (head.generation.load(std::memory_order_relaxed) != generation) return;  // it changed hands meanwhile
  chunks_.push_back(std::move(chunk));
}

void Recording::read_sites() {
  constexpr std::uint32_t kMaxSites = 1 << 20;
  for (Chunk& chunk : chunks_) {
    for (std::size_t at = 0; at + sizeof(RecordHead) <= chunk.size();) {
      auto const head = load<RecordHead>(chunk.data() + at);
      std::size_t const bytes = std::size_t{head.words} * 8;
      if (bytes < sizeof(RecordHead) || bytes > chunk.size() - at) break;  // reported when the records are read
      if (head.type == RecordType::site) {
        bool const is_local = head.site >= kLocalSite;
        std::uint32_t const number = is_local ? head.site - kLocalSite : head.site;
        auto& sites = is_local ? chunk.sites : sites_;
        auto site = RecordedSite::read({chunk.data() + at + sizeof(head), bytes - sizeof(head)});
        if (site == nullptr || number == 0 || number > kMaxSites || (is_local && number > kChunkBytes / 16)) {
          report("chunk " + std::to_string(chunk.number) + ", byte " + std::to_string(at) +
                 ": the description of a callsite makes no sense");
        } else {
          if (sites.size() < number) sites.resize(number);
          sites[number - 1] = std::move(site);
        }
      }
      at += bytes;
    }
  }
}

void Recording::add_track(std::vector<Chunk*> chunks) {
  std::sort(chunks.begin(), chunks.end(), [](Chunk const* a, Chunk const* b) {
    return std::pair(a->first_record, a->first_ticks) < std::pair(b->first_record, b->first_ticks);
  });
  RecordedTrack track;
  track.number = chunks.front()->track;
  tracks_.push_back(std::move(track));
  chunks_of_tracks_.push_back(std::move(chunks));
}

Instant Recording::time_of(std::uint64_t ticks) const noexcept {
  __extension__ using Wide = __int128;
  auto const since = static_cast<std::int64_t>(ticks - start_ticks_);
  auto const ns = static_cast<std::int64_t>(Wide{since} * static_cast<std::int64_t>(ns_per_tick_) >> 32);
  return Instant{static_cast<std::int64_t>(static_cast<std::uint64_t>(start_ns_) + static_cast<std::uint64_t>(ns))};
}

// ---- records ----

// Reads the records of a track, one after the other.
class Recording::Cursor {
 public:
  Cursor(Recording& recording, RecordedTrack& track, std::vector<Chunk*> const& chunks)
      : recording_(recording), track_(track), chunks_(chunks) {
    track_.lost = chunks.front()->first_record;
    begin_chunk();
  }

  // Goes to the next record; false at the end.
  bool next() {
    while (chunk_ < chunks_.size()) {
      if (read_record()) return true;
      ++chunk_;
      begin_chunk();
    }
    track_.open = stack_;
    return false;
  }
  RecordEntry const& entry() const noexcept { return entry_; }

 private:
  Chunk const& chunk() const noexcept { return *chunks_[chunk_]; }

  void begin_chunk() {
    if (chunk_ == chunks_.size()) return;
    at_ = 0;
    if (chunk().first_record > ordinal_) track_.lost += chunk_ == 0 ? 0 : chunk().first_record - ordinal_;
    ordinal_ = chunk().first_record;
    span_ = chunk().first_span;
    tag_ = chunk().tag;
    stack_.clear();  // the chunk describes it
  }

  bool fail(char const* what) {
    recording_.report("chunk " + std::to_string(chunk().number) + ", byte " + std::to_string(at_) + ": " + what);
    return false;
  }

  bool read_record() {
    while (at_ + sizeof(RecordHead) <= chunk().size()) {
      auto const head = load<RecordHead>(chunk().data() + at_);
      std::size_t const bytes = std::size_t{head.words} * 8;
      if (bytes < sizeof(RecordHead) || bytes > chunk().size() - at_) return fail("the size of a record is wrong");
      rest_ = {chunk().data() + at_ + sizeof(RecordHead), bytes - sizeof(RecordHead)};
      entry_ = {};
      entry_.type = head.type;
      entry_.flags = head.flags;
      entry_.ticks = chunk().first_ticks + head.ticks;
      entry_.time = recording_.time_of(entry_.ticks);
      entry_.writer = entry_.track = track_.number;
      entry_.ordinal = ordinal_;
      bool const is_entry = decode(head);
      if (failed_ != nullptr) return fail(std::exchange(failed_, nullptr));
      entry_.tag = tag_;
      if ((head.flags & kRestated) == 0) ++ordinal_;
      at_ += bytes;
      if (is_entry) return true;
    }
    return false;
  }

  // False if the record is only about the recording itself.
  bool decode(RecordHead const& head) {
    switch (head.type) {
      case RecordType::site: return false;
      case RecordType::tag: tag_ = head.site; return false;
      case RecordType::track: read_track(); return false;
      case RecordType::scope_end:
        entry_.span = innermost();
        if (!stack_.empty()) stack_.pop_back();
        return true;
      case RecordType::state:
      case RecordType::scope_begin:
      case RecordType::event:
      case RecordType::new_span:
      case RecordType::enter:
      case RecordType::exit:
      case RecordType::close:
      case RecordType::values:
      case RecordType::follows_from:
      case RecordType::timed: return decode_usual(head);
    }
    failed_ = "the type of a record is unknown";
    return false;
  }

  bool decode_usual(RecordHead const& head) {
    RecordedSite const* const site = site_of(head.site);
    if (site == nullptr) {
      failed_ = "a record is of a callsite that is not described";
      return false;
    }
    entry_.metadata = &site->metadata();
    std::size_t const value_count = entry_.metadata->parts().value_count;
    bool const has_values = (head.flags & kHasValues) != 0;
    std::string_view const more_kinds =
        take(has_values && value_count > kInlineKinds ? padded_to_word(value_count - kInlineKinds) : 0);
    bool const is_foreign = (head.flags & kForeign) != 0;
    if (is_foreign) {
      entry_.track = take_word();
      entry_.time = Instant{static_cast<std::int64_t>(take_word())};
    }
    bool const is_explicit = (head.flags & kParentMask) == 2;
    bool const is_contextual = (head.flags & kParentMask) == 0 && !is_foreign;
    std::uint64_t const around = is_contextual ? innermost() : 0;
    switch (head.type) {
      case RecordType::event: entry_.span = is_explicit ? take_word() : around; break;
      case RecordType::scope_begin:
        entry_.parent = around;
        entry_.span = make_span_key(track_.number, span_++);
        stack_.push_back(entry_.span);
        break;
      case RecordType::new_span:
        entry_.span = take_word();
        entry_.parent = is_explicit ? take_word() : around;
        ++span_;
        break;
      case RecordType::state:
        entry_.span = take_word();
        entry_.parent = take_word();
        if ((head.flags & kEntered) != 0) stack_.push_back(entry_.span);
        break;
      case RecordType::enter:
        entry_.span = take_word();
        if (!is_foreign) stack_.push_back(entry_.span);
        break;
      case RecordType::exit: {
        entry_.span = take_word();
        auto const found = std::find(stack_.rbegin(), stack_.rend(), entry_.span);
        if (!is_foreign && found != stack_.rend()) stack_.erase(std::next(found).base());
        break;
      }
      case RecordType::follows_from:
        entry_.span = take_word();
        entry_.cause = take_word();
        break;
      case RecordType::timed:
        entry_.span = innermost();
        entry_.duration_ns = take_word();
        break;
      default: entry_.span = take_word();
    }
    // A message has placeholders for values even if the record has none.
    values_.assign(value_count + 1, Value());
    if (has_values || head.type == RecordType::event) entry_.values = values_.data();
    if (has_values) read_values(head, more_kinds, value_count);
    return failed_ == nullptr;
  }

  void read_values(RecordHead const& head, std::string_view more_kinds, std::size_t count) {
    cut_texts_.clear();
    for (std::size_t i = 0; i < count && failed_ == nullptr; ++i) {
      auto const kind = i < kInlineKinds ? head.kinds[i] : static_cast<std::uint8_t>(more_kinds[i - kInlineKinds]);
      values_[i] = read_value(kind);
    }
  }

  Value read_value(std::uint8_t kind) {
    bool const is_cut = (kind & kCutValue) != 0;
    kind = static_cast<std::uint8_t>(kind & ~kCutValue);
    if (!is_text_kind(kind)) {
      if (kind > static_cast<std::uint8_t>(ValueKind::redacted)) failed_ = "the kind of a value is unknown";
      std::size_t const words = words_of_kind(kind);
      std::uint64_t const first = words > 0 ? take_word() : 0;
      std::uint64_t const second = words > 1 ? take_word() : 0;
      return number(static_cast<ValueKind>(kind), first, second);
    }
    std::uint64_t const sizes = take_word();
    std::size_t const size = sizes & 0xffffffff;
    std::string_view text = take(padded_to_word(size));
    if (failed_ != nullptr) return {};
    text = text.substr(0, size);
    if (static_cast<ValueKind>(kind) == ValueKind::error) {
      if (is_stored_error(text)) return stored_error(text.data());
      kind = static_cast<std::uint8_t>(ValueKind::verbatim);
    }
    if (is_cut) {
      InlineTextBuffer<64> mark;
      mark.append("... (");
      mark.append_uint(sizes >> 32);
      mark.append(" bytes)");
      cut_texts_.push_back(std::string(text).append(mark.view()));
      text = cut_texts_.back();
    }
    switch (static_cast<ValueKind>(kind)) {
      case ValueKind::text: return Value::of_text(text);
      case ValueKind::bytes: return Value::of_bytes(text.data(), text.size());
      case ValueKind::verbatim: return Value::of_verbatim(text);
      default: failed_ = "the kind of a value is unknown"; return {};
    }
  }

  static Value number(ValueKind kind, std::uint64_t first, std::uint64_t second) noexcept {
    switch (kind) {
      case ValueKind::boolean: return Value::of_bool(first != 0);
      case ValueKind::i64: return Value::of_i64(static_cast<std::int64_t>(first));
      case ValueKind::u64: return Value::of_u64(first);
      case ValueKind::f64: return Value::of_f64(load<double>(reinterpret_cast<char const*>(&first)));
      case ValueKind::f32:
        return Value::of_f32(static_cast<float>(load<double>(reinterpret_cast<char const*>(&first))));
      case ValueKind::i128:
        return Value::of_i128(static_cast<Value::Int128>(Value::Uint128{second} << 64 | first));
      case ValueKind::u128: return Value::of_u128(Value::Uint128{second} << 64 | first);
      case ValueKind::pointer: return Value::of_pointer(reinterpret_cast<void const*>(first));
      case ValueKind::redacted: return Value::of_redacted();
      default: return {};
    }
  }

  void read_track() {
    track_.os_thread = static_cast<std::int64_t>(take_word());
    std::uint64_t const size = take_word();
    if (size > rest_.size()) failed_ = "the name of a thread is too long";
    if (failed_ == nullptr) track_.name = rest_.substr(0, size);
  }

  RecordedSite const* site_of(std::uint32_t number) const noexcept {
    auto const& sites = number >= kLocalSite ? chunk().sites : recording_.sites_;
    std::uint32_t const index = (number & ~kLocalSite) - 1;
    return index < sites.size() ? sites[index].get() : nullptr;
  }
  std::uint64_t innermost() const noexcept { return stack_.empty() ? 0 : stack_.back(); }

  std::string_view take(std::size_t bytes) noexcept {
    if (bytes > rest_.size()) {
      failed_ = "a record ends too early";
      return {};
    }
    std::string_view const taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t take_word() noexcept {
    std::string_view const bytes = take(8);
    return bytes.empty() ? 0 : load<std::uint64_t>(bytes.data());
  }

  Recording& recording_;
  RecordedTrack& track_;
  std::vector<Chunk*> const& chunks_;
  std::size_t chunk_ = 0;
  std::size_t at_ = 0;  // in the chunk
  std::string_view rest_;  // of the record
  char const* failed_ = nullptr;
  std::uint64_t ordinal_ = 0;
  std::uint64_t span_ = 0;
  std::uint32_t tag_ = 0;
  std::vector<std::uint64_t> stack_;
  RecordEntry entry_;
  std::vector<Value> values_;
  std::deque<std::string> cut_texts_;
};

void Recording::visit(void (*each)(void* context, RecordEntry const& entry), void* context) {
  std::deque<Cursor> cursors;
  // The tracks that have a record, the oldest one first; of the same time, that of the track made first.
  auto const is_later = [](Cursor const* a, Cursor const* b) {
    return std::pair(a->entry().ticks, a->entry().writer) > std::pair(b->entry().ticks, b->entry().writer);
  };
  std::vector<Cursor*> waiting;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Cursor& cursor = cursors.emplace_back(*this, tracks_[i], chunks_of_tracks_[i]);
    if (cursor.next()) waiting.push_back(&cursor);
  }
  std::make_heap(waiting.begin(), waiting.end(), is_later);
  while (!waiting.empty()) {
    std::pop_heap(waiting.begin(), waiting.end(), is_later);
    Cursor& oldest = *waiting.back();
    each(context, oldest.entry());
    if (oldest.next()) {
      std::push_heap(waiting.begin(), waiting.end(), is_later);
    } else {
      waiting.pop_back();
    }
  }
}

// ---- sources ----

namespace {

// Copies words that a thread may be writing; such copies are found out by the generation and thrown away.
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
__attribute__((no_sanitize("thread")))
#endif
void copy_words(char const* from, char* to, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t const word = __atomic_load_n(reinterpret_cast<std::uint64_t const*>(from + at), __ATOMIC_ACQUIRE);
    std::memcpy(to + at, &word, 8);
  }
}

}  // namespace

std::unique_ptr<Recording> Recording::read_region(Region const& region) {
  class Memory final : public Source {
   public:
    explicit Memory(Region const& region) noexcept
        : base_(reinterpret_cast<char const*>(&region.header())), size_(region.size_bytes()) {}
    std::size_t size() const noexcept override { return size_; }
    bool read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      if (offset > size_ || bytes > size_ - offset) return false;
      copy_words(base_ + offset, static_cast<char*>(to), bytes);
      std::atomic_thread_fence(std::memory_order_acquire);
      return true;
    }

   private:
    char const* base_;
    std::size_t size_;
  };
  std::string error;
  return read(Memory(region), error);
}

std::unique_ptr<Recording> Recording::read_bytes(std::string_view bytes, std::string& error) {
  class Bytes final : public Source {
   public:
    explicit Bytes(std::string_view bytes) noexcept : bytes_(bytes) {}
    std::size_t size() const noexcept override { return bytes_.size(); }
    bool read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      if (offset > bytes_.size() || bytes > bytes_.size() - offset) return false;
      if (bytes != 0) std::memcpy(to, bytes_.data() + offset, bytes);
      return true;
    }

   private:
    std::string_view bytes_;
  };
  return read(Bytes(bytes), error);
}

std::unique_ptr<Recording> Recording::read_file(std::string const& path, std::string& error) {
  class File final : public Source {
   public:
    explicit File(std::string const& path) noexcept : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
      struct stat status {};
      if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
        error_ = errno;
      } else {
        size_ = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
      }
    }
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File() override {
      if (descriptor_ >= 0) close(descriptor_);
    }
    int error() const noexcept { return error_; }
    std::size_t size() const noexcept override { return size_; }
    bool read(std::size_t offset, void* to, std::size_t bytes) const noexcept override {
      auto* out = static_cast<char*>(to);
      while (bytes > 0) {
        ssize_t const got = pread(descriptor_, out, bytes, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out += got;
        offset += static_cast<std::size_t>(got);
        bytes -= static_cast<std::size_t>(got);
      }
      return true;
    }

   private:
    int const descriptor_;
    int error_ = 0;
    std::size_t size_ = 0;
  };
  File const file(path);
  if (file.error() != 0) {
    error = "could not be opened: " + std::generic_category().message(file.error());
    return nullptr;
  }
  return read(file, error);
}

}  // namespace tracing::inline v1::internal
