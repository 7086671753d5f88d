#include "tracing_core/record/decode/entry_reader.h"

#include <algorithm>
#include <utility>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace recording {

EntryReader::EntryReader(RecordingState& recording, TrackSummary& track, std::vector<RecordedChunk*> const& chunks)
    : recording_(recording), track_(track), chunks_(chunks), decoder_(track.number, *this, spans_) {
  thread_ = recording.thread(track.number);
  begin_chunk();
}

bool EntryReader::next() {
  while (chunk_ < chunks_.size()) {
    while (decoder_.next(entry_)) {
      if (decoder_.describes_writer()) {
        thread_.os_thread = decoder_.described_thread().os_thread;
        thread_.name = decoder_.described_thread().name;
      }
      if (decoder_.is_entry()) {
        if (reads_ends_ && !take_known_end()) continue;
        if (complete_entry()) return true;
        ++lost_;
        break;
      }
      if (!decoder_.is_known())
        report("skipped a record of the unknown type " + std::to_string(static_cast<unsigned>(entry_.type)));
    }
    if (decoder_.error() != nullptr) report(decoder_.error());
    ++chunk_;
    begin_chunk();
  }
  thread_.number = decoder_.thread();
  track_.thread = thread_;
  track_.lost = lost_;
  track_.open.assign(spans_.begin(), spans_.end());
  is_at_end_ = true;
  return false;
}

void EntryReader::resume() {
  if (std::exchange(is_at_end_, false)) --chunk_;
  decoder_.extend({chunk().data(), chunk().size()});
}

void EntryReader::begin_chunk() {
  if (reads_ends_) {
    decoder_.forget_spans();
    has_left_out_ = true;
  } else if (chunk_ < chunks_.size() && chunk().is_left_out) {
    known_.assign(spans_.begin(), spans_.end());
  }
  for (; chunk_ < chunks_.size() && chunk().is_left_out && !chunk().unknown_spans; ++chunk_) {
    add_lost(decoder_.pass(chunk().first_record, chunk().records));
    has_left_out_ = true;
  }
  if (chunk_ == chunks_.size()) return;
  RecordedChunk const& next = chunk();
  reads_ends_ = next.is_left_out;
  open_ = next.unknown_spans.value_or(0);
  least_open_ = 0;
  std::string_view const records = recording_.records_of(next, buffer_);
  if (records.size() != next.bytes)
    recording_.report("chunk " + std::to_string(next.number) +
                      ": its records were overwritten or cut off after the recording was opened");
  add_lost(decoder_.begin({.bytes = records,
                           .first_ticks = next.first_ticks,
                           .first_record = next.first_record,
                           .first_span = next.first_span,
                           .tag = next.tag},
                          recording_.clock));
}

// The ends of known spans may be among the lost records, which were overwritten while others were read, or are damaged.
void EntryReader::add_lost(std::uint64_t records) noexcept {
  if (records == 0) return;
  lost_ += records;
  has_lost_ = true;
  known_.clear();
}

// Follows the spans of a chunk that is left out. True if the entry ends a span that the reader knows.
bool EntryReader::take_known_end() {
  open_ += begins_span(entry_.type);
  if (!ends_span(entry_.type) || --open_ >= least_open_ || known_.empty()) return false;
  least_open_ = open_;
  entry_.span = known_.back();
  known_.pop_back();
  return true;
}

void EntryReader::report(std::string const& what) {
  recording_.report("chunk " + std::to_string(chunk().number) + ", byte " + std::to_string(decoder_.at()) + ": " +
                    what);
}

// False if the values make no sense.
bool EntryReader::complete_entry() {
  entry_.is_context = entry_.ticks < recording_.from_ticks;
  entry_.is_after_left_out = (reads_ends_ || has_left_out_) && !has_lost_;
  has_left_out_ = has_lost_ = false;
  entry_.chunk_track = track_.number;
  entry_.track_name = thread_.name;
  if (entry_.track != entry_.writer) [[unlikely]] {
    entry_.track = recording_.known_track(entry_.track);
    entry_.track_name = recording_.name_of_foreign(entry_.track);
  }
  entry_.values = nullptr;
  return entry_.metadata == nullptr || read_values();
}

bool EntryReader::read_values() {
  // A message has placeholders for values even if the record has no values.
  bool const has_values = (entry_.flags & internal::kHasValues) != 0;
  if (!has_values && entry_.type != internal::RecordType::event && entry_.type != internal::RecordType::mark)
    return true;
  std::size_t const count = entry_.metadata->parts().value_count;
  if (values_.size() <= count) values_.resize(count + 1);
  std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(decoder_.pieces().value_count),
              count + 1 - decoder_.pieces().value_count, Value());
  entry_.values = values_.data();
  if (!cut_texts_.empty()) cut_texts_.clear();
  char const* const error =
      decoder_.pieces().for_each_value([this](std::size_t i, Value const& value, std::uint32_t whole_size) {
        values_[i] = whole_size == 0 ? value : with_size(value, whole_size);
      });
  if (error != nullptr) report(error);
  return error == nullptr;
}

// The beginning of a text, with a mark that tells its whole size.
Value EntryReader::with_size(Value const& beginning, std::uint32_t whole_size) {
  InlineTextBuffer<64> mark;
  mark.append("... (");
  mark.append_uint(whole_size);
  mark.append(" bytes)");
  std::string const& text = cut_texts_.emplace_back(std::string(beginning.as_text()).append(mark.view()));
  switch (beginning.kind()) {
    case ValueKind::text: return Value::of_text(text);
    case ValueKind::bytes: return Value::of_bytes(text.data(), text.size());
    default: return Value::of_verbatim(text);
  }
}

Metadata const* EntryReader::find(std::uint32_t number) noexcept { return recording_.callsite(chunk(), number); }

// ---- all tracks ----

namespace {

// Entries of equal times are sorted by the numbers of their threads.
bool is_later(EntryReader const* a, EntryReader const* b) noexcept {
  return std::pair(a->entry().ticks, a->entry().writer) > std::pair(b->entry().ticks, b->entry().writer);
}

}  // namespace

EntriesInOrder::EntriesInOrder(RecordingState& recording) {
  for (std::size_t i = 0; i < recording.tracks.size(); ++i) {
    add(readers_.emplace_back(recording, recording.tracks[i], recording.chunks_of_tracks[i]));
  }
}

void EntriesInOrder::add(EntryReader& reader) {
  if (!reader.next()) return;
  waiting_.push_back(&reader);
  std::push_heap(waiting_.begin(), waiting_.end(), is_later);
}

Entry const* EntriesInOrder::next(std::uint64_t until) {
  if (last_ != nullptr) add(*std::exchange(last_, nullptr));
  if (waiting_.empty() || waiting_.front()->entry().ticks > until) return nullptr;
  std::pop_heap(waiting_.begin(), waiting_.end(), is_later);
  last_ = waiting_.back();
  waiting_.pop_back();
  return &last_->entry();
}

bool read_thread(std::string_view content, Thread& thread) {
  DescribedThread described;
  if (!read_thread(content, described)) return false;
  thread.os_thread = described.os_thread;
  thread.name = described.name;
  return true;
}

}}}  // namespace tracing::v1::recording
