// The one place that knows what a record says about the program. RecordingState::read_description() also reads the
// records that describe callsites and threads, before any other record, since other records refer to them.
//
// A record names little: a scope names neither its span nor its parent, since the span is the next that the track
// opens, and the parent is the span that the track is in. So a reader follows the track from a place where all of this
// is known. Each chunk is such a place: its head has the numbers of its first record and span, and its first records
// describe (restate) the thread and the spans that the thread was in. What is restated is new to a reader that did not
// read the chunk before, and known to a reader that did, which keeps its own state.
//
// The invariant after each record: `spans_` holds the spans that the thread is in, as its layer saw them when it wrote
// the record. Whoever wants to know which spans were open, whether from a file a year later or in the handler of the
// signal that ends the process, gets the answer from here, so that no two answers differ.
//
// The reader in a dying process used to be a decoder of its own, because it may not allocate. Nothing here allocates
// but a tracker that grows, so the two needs differ in the room that the caller brings, and in nothing else.
#include "tracing_core/record/decode/decoder.h"

#include <cstring>
#include <utility>

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

// ---- pieces ----

std::size_t RecordPieces::reference_count() const noexcept {
  switch (head.type) {
    case RecordType::state: return 3;
    case RecordType::follows_from: return 2;
    case RecordType::new_span: return has_explicit_parent() ? 2 : 1;
    case RecordType::event: return has_explicit_parent() ? 1 : 0;
    case RecordType::enter:
    case RecordType::exit:
    case RecordType::close:
    case RecordType::values:
    case RecordType::timed: return 1;
    default: return 0;
  }
}

void RecordPieces::read(std::string_view bytes, SiteSource& sites) noexcept {
  metadata = nullptr;
  value_count = 0;
  error = nullptr;
  head.words = 0;
  if (bytes.size() >= sizeof(RecordHead)) std::memcpy(&head, bytes.data(), sizeof(RecordHead));
  if (size() < sizeof(RecordHead) || size() > bytes.size()) {
    error = "the size of a record is wrong";
    return;
  }
  rest = ValueReader(bytes.substr(sizeof(RecordHead), size() - sizeof(RecordHead)));
  switch (head.type) {
    case RecordType::state:
    case RecordType::scope_begin:
    case RecordType::event:
    case RecordType::new_span:
    case RecordType::enter:
    case RecordType::exit:
    case RecordType::close:
    case RecordType::values:
    case RecordType::follows_from:
    case RecordType::timed:
    case RecordType::mark: read_usual(sites); break;
    default: break;
  }
}

void RecordPieces::read_usual(SiteSource& sites) noexcept {
  metadata = sites.find(head.site);
  if (metadata == nullptr) {
    error = "a record is of a callsite that is not described";
    return;
  }
  if ((head.flags & kHasValues) != 0) value_count = metadata->parts().value_count;
  if (value_count > kInlineKinds) more_kinds = rest.take(padded_to_word(value_count - kInlineKinds));
  if (is_foreign()) {
    track = rest.take_word();
    time_ns = static_cast<std::int64_t>(rest.take_word());
  }
  for (std::size_t i = 0, count = reference_count(); i < count; ++i) references[i] = rest.take_word();
  error = rest.error();
}

bool read_thread(std::string_view content, DescribedThread& thread) noexcept {
  if (content.size() < 16) return false;
  std::uint64_t size;
  std::memcpy(&thread.os_thread, content.data(), sizeof(thread.os_thread));
  std::memcpy(&size, content.data() + 8, sizeof(size));
  std::string_view const name = content.substr(16);
  if (size > name.size()) return false;
  thread.name = name.substr(0, size);
  return true;
}

// ---- chunks ----

std::uint64_t Decoder::begin(ChunkRecords const& chunk, ChunkClock const& clock) noexcept {
  chunk_ = chunk;
  clock_ = clock;
  at_ = next_ = 0;
  error_ = nullptr;
  std::uint64_t const missing = chunk.first_record > ordinal_ ? chunk.first_record - ordinal_ : 0;
  knows_spans_ = std::exchange(has_begun_, true) && chunk.first_record == ordinal_;
  if (!knows_spans_) {
    spans_.clear();
    thread_ = track_;
  }
  ordinal_ = chunk.first_record;
  span_ = chunk.first_span;
  tag_ = chunk.tag;
  return missing;
}

std::uint64_t Decoder::pass(std::uint64_t first_record, std::uint64_t records) noexcept {
  std::uint64_t const missing = first_record > ordinal_ ? first_record - ordinal_ : 0;
  ordinal_ = first_record + records;
  has_begun_ = false;
  return missing;
}

bool Decoder::next(Entry& record) {
  at_ = next_;
  if (error_ != nullptr || chunk_.bytes.size() - at_ < sizeof(RecordHead)) return false;
  pieces_.read(chunk_.bytes.substr(at_), sites_);
  error_ = pieces_.error;
  if (error_ == nullptr) decode(record);
  if (error_ != nullptr) return false;
  next_ = at_ + pieces_.size();
  if ((pieces_.head.flags & kRestated) == 0) ++ordinal_;
  return true;
}

bool Decoder::is_entry() const noexcept {
  switch (pieces_.head.type) {
    case RecordType::site:
    case RecordType::track:
    case RecordType::tag:
    case RecordType::clock:
    case RecordType::thread: return false;
    default: return is_known();
  }
}

bool Decoder::describes_writer() const noexcept {
  RecordType const type = pieces_.head.type;
  return type == RecordType::thread || (type == RecordType::track && !pieces_.is_foreign());
}

// ---- records ----

void Decoder::decode(Entry& record) {
  RecordHead const& head = pieces_.head;
  record = {};
  record.type = head.type;
  record.flags = head.flags;
  record.ticks = chunk_.first_ticks + head.ticks;
  record.ns_per_tick = clock_.ns_per_tick;
  record.time = clock_.time_of(record.ticks);
  record.ordinal = ordinal_;
  record.metadata = pieces_.metadata;
  ValueReader content = pieces_.rest;
  if (head.type == RecordType::tag) {
    tag_ = head.site;
  } else if (head.type == RecordType::clock) {
    auto const ns = static_cast<std::int64_t>(content.take_word());
    clock_ = {chunk_.first_ticks, ns, content.take_word()};
    error_ = content.error();
  } else if (describes_writer()) {
    if (head.type == RecordType::thread) go_to_thread(content.take_word());
    if (!read_thread(content.take(content.size()), described_)) error_ = "the description of a thread makes no sense";
  }
  record.tag = tag_;
  record.writer = record.track = thread_;
  if (pieces_.metadata == nullptr) {
    if (head.type == RecordType::scope_end) leave_scope(record);
    return;
  }
  if (pieces_.is_foreign()) {
    record.track = pieces_.track;
    record.time = Instant{pieces_.time_ns};
  }
  follow_spans(record);
}

// The previous thread of the track has ended, so the new thread starts outside all spans.
void Decoder::go_to_thread(std::uint64_t number) noexcept {
  if (std::exchange(thread_, number) == number) return;
  spans_.clear();
  knows_spans_ = false;
}

void Decoder::leave_scope(Entry& record) noexcept {
  record.span = spans_.innermost();
  spans_.leave_innermost();
}

// A record of another track does not change the spans of the thread that wrote it. A dated record of the thread itself
// does.
void Decoder::follow_spans(Entry& record) {
  bool const is_own = record.track == record.writer;
  std::uint64_t const* const references = pieces_.references;
  bool const is_contextual = (record.flags & kParentMask) == 0 && is_own;
  std::uint64_t const around = is_contextual ? spans_.innermost() : 0;
  switch (record.type) {
    case RecordType::event: record.span = pieces_.has_explicit_parent() ? references[0] : around; break;
    case RecordType::scope_begin:
      record.span = make_span_key(track_, span_++);
      record.parent = around;
      spans_.enter(record.span);
      break;
    case RecordType::new_span:
      record.span = references[0];
      record.parent = pieces_.has_explicit_parent() ? references[1] : around;
      ++span_;
      break;
    case RecordType::state:
      record.span = references[0];
      record.parent = references[1];
      record.span_tag = static_cast<std::uint32_t>(references[2]);
      if ((record.flags & kEntered) != 0 && !knows_spans_) spans_.enter(record.span);
      break;
    case RecordType::enter:
      record.span = references[0];
      if (is_own) spans_.enter(record.span);
      break;
    case RecordType::exit:
      record.span = references[0];
      if (is_own) spans_.leave(record.span);
      break;
    case RecordType::timed:
      record.span = spans_.innermost();
      record.duration_ns = references[0];
      break;
    case RecordType::follows_from:
      record.span = references[0];
      record.cause = references[1];
      break;
    case RecordType::close:
    case RecordType::values: record.span = references[0]; break;
    default: break;
  }
}

}}}  // namespace tracing::v1::recording
