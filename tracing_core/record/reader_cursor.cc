// The records of one track.
#include <utility>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/reader_parts.h"

namespace tracing::inline v1::internal {

Recording::Cursor::Cursor(Recording& recording, RecordedTrack& track, std::vector<Chunk*> const& chunks)
    : recording_(recording), track_(track), chunks_(chunks) {
  track_.lost = chunks.front()->first_record;
  track_.thread = recording.thread(track.number);
  begin_chunk();
}

bool Recording::Cursor::next() {
  while (chunk_ < chunks_.size()) {
    if (read_record()) return true;
    ++chunk_;
    begin_chunk();
  }
  track_.open = stack_;
  return false;
}

void Recording::Cursor::begin_chunk() {
  if (chunk_ == chunks_.size()) return;
  at_ = 0;
  knows_stack_ = chunk().first_record == ordinal_;
  if (!knows_stack_) {  // the chunk describes it, and the thread
    stack_.clear();
    track_.thread.number = track_.number;
  }
  if (chunk().first_record > ordinal_) track_.lost += chunk_ == 0 ? 0 : chunk().first_record - ordinal_;
  ordinal_ = chunk().first_record;
  span_ = chunk().first_span;
  tag_ = chunk().tag;
  clock_ = recording_.clock_;
}

bool Recording::Cursor::fail(char const* what) {
  recording_.report("chunk " + std::to_string(chunk().number) + ", byte " + std::to_string(at_) + ": " + what);
  return false;
}

bool Recording::Cursor::read_record() {
  while (at_ + sizeof(RecordHead) <= chunk().size()) {
    auto const head = load<RecordHead>(chunk().data() + at_);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(RecordHead) || bytes > chunk().size() - at_) return fail("the size of a record is wrong");
    rest_ = ValueReader({chunk().data() + at_ + sizeof(RecordHead), bytes - sizeof(RecordHead)});
    entry_ = {};
    entry_.type = head.type;
    entry_.flags = head.flags;
    entry_.ticks = chunk().first_ticks + head.ticks;
    entry_.is_context = entry_.ticks < recording_.from_ticks_;
    entry_.time = clock_.time_of(entry_.ticks);
    entry_.ns_per_tick = clock_.ns_per_tick;
    entry_.writer = entry_.track = track_.thread.number;
    entry_.chunk_track = track_.number;
    entry_.ordinal = ordinal_;
    bool const is_entry = decode(head);
    if (rest_.error() != nullptr) return fail(rest_.error());
    entry_.tag = tag_;
    entry_.track_name = track_.thread.name;
    if (entry_.track != entry_.writer) [[unlikely]] {
      auto const found = recording_.foreign_names_.find(entry_.track);
      entry_.track_name = found == recording_.foreign_names_.end() ? std::string_view() : found->second;
    }
    if ((head.flags & kRestated) == 0) ++ordinal_;
    at_ += bytes;
    if (is_entry) return true;
  }
  return false;
}

// False if the record is only about the recording itself.
bool Recording::Cursor::decode(RecordHead const& head) {
  switch (head.type) {
    case RecordType::site: return false;
    case RecordType::tag: tag_ = head.site; return false;
    case RecordType::track:
      if ((head.flags & kForeign) == 0 && !read_thread(rest_.take(rest_.size()), track_.thread))
        rest_.fail("the description of a thread makes no sense");
      return false;
    case RecordType::thread: go_to_thread(); return false;
    case RecordType::clock: read_clock(); return false;
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
    case RecordType::timed:
    case RecordType::mark: return decode_usual(head);
  }
  recording_.report("chunk " + std::to_string(chunk().number) + ", byte " + std::to_string(at_) +
                    ": skipped a record of the unknown type " + std::to_string(static_cast<unsigned>(head.type)));
  return false;
}

bool Recording::Cursor::decode_usual(RecordHead const& head) {
  RecordedSite const* const site = site_of(head.site);
  if (site == nullptr) {
    rest_.fail("a record is of a callsite that is not described");
    return false;
  }
  entry_.metadata = &site->metadata();
  std::size_t const value_count = entry_.metadata->parts().value_count;
  bool const has_values = (head.flags & kHasValues) != 0;
  std::string_view const more_kinds =
      rest_.take(has_values && value_count > kInlineKinds ? padded_to_word(value_count - kInlineKinds) : 0);
  bool const is_foreign = (head.flags & kForeign) != 0;
  if (is_foreign) {
    entry_.track = rest_.take_word();
    if (entry_.track != entry_.writer) entry_.track = recording_.known_track(entry_.track);
    entry_.time = Instant{static_cast<std::int64_t>(rest_.take_word())};
  }
  decode_place(head);
  // A message has placeholders for values even if the record has none.
  values_.assign(value_count + 1, Value());
  if (has_values || head.type == RecordType::event || head.type == RecordType::mark) entry_.values = values_.data();
  if (has_values) read_values(head, more_kinds, value_count);
  return rest_.error() == nullptr;
}

void Recording::Cursor::read_clock() {
  auto const ns = static_cast<std::int64_t>(rest_.take_word());
  clock_ = {chunk().first_ticks, ns, rest_.take_word()};
}

// The thread before has ended, so it is in no span.
void Recording::Cursor::go_to_thread() {
  std::uint64_t const number = rest_.take_word();
  if (!read_thread(rest_.take(rest_.size()), track_.thread)) rest_.fail("the description of a thread makes no sense");
  if (std::exchange(track_.thread.number, number) == number) return;
  stack_.clear();
  knows_stack_ = false;
}

// What the record is about.
void Recording::Cursor::decode_place(RecordHead const& head) {
  bool const is_foreign = entry_.track != entry_.writer;  // a dated record of the thread is in its stack
  bool const is_explicit = (head.flags & kParentMask) == 2;
  bool const is_contextual = (head.flags & kParentMask) == 0 && !is_foreign;
  std::uint64_t const around = is_contextual ? innermost() : 0;
  switch (head.type) {
    case RecordType::mark: break;
    case RecordType::event: entry_.span = is_explicit ? rest_.take_word() : around; break;
    case RecordType::scope_begin:
      entry_.parent = around;
      entry_.span = make_span_key(track_.number, span_++);
      stack_.push_back(entry_.span);
      break;
    case RecordType::new_span:
      entry_.span = rest_.take_word();
      entry_.parent = is_explicit ? rest_.take_word() : around;
      ++span_;
      break;
    case RecordType::state:
      entry_.span = rest_.take_word();
      entry_.parent = rest_.take_word();
      entry_.span_tag = static_cast<std::uint32_t>(rest_.take_word());
      if ((head.flags & kEntered) != 0 && !knows_stack_) stack_.push_back(entry_.span);
      break;
    case RecordType::enter:
      entry_.span = rest_.take_word();
      if (!is_foreign) stack_.push_back(entry_.span);
      break;
    case RecordType::exit: {
      entry_.span = rest_.take_word();
      auto const found = find_innermost(stack_, [this](std::uint64_t span) { return span == entry_.span; });
      if (!is_foreign && found != stack_.rend()) stack_.erase(std::next(found).base());
      break;
    }
    case RecordType::follows_from:
      entry_.span = rest_.take_word();
      entry_.cause = rest_.take_word();
      break;
    case RecordType::timed:
      entry_.span = innermost();
      entry_.duration_ns = rest_.take_word();
      break;
    default: entry_.span = rest_.take_word();
  }
}

void Recording::Cursor::read_values(RecordHead const& head, std::string_view more_kinds, std::size_t count) {
  cut_texts_.clear();
  for (std::size_t i = 0; i < count && rest_.error() == nullptr; ++i) {
    auto const kind = i < kInlineKinds ? head.kinds[i] : static_cast<std::uint8_t>(more_kinds[i - kInlineKinds]);
    values_[i] = read_value(kind);
  }
}

Value Recording::Cursor::read_value(std::uint8_t kind) {
  std::uint32_t whole_size = 0;
  Value const value = rest_.take_value(kind, whole_size);
  if (whole_size == 0) return value;
  InlineTextBuffer<64> mark;
  mark.append("... (");
  mark.append_uint(whole_size);
  mark.append(" bytes)");
  std::string const& text = cut_texts_.emplace_back(std::string(value.as_text()).append(mark.view()));
  switch (value.kind()) {
    case ValueKind::text: return Value::of_text(text);
    case ValueKind::bytes: return Value::of_bytes(text.data(), text.size());
    default: return Value::of_verbatim(text);
  }
}

bool read_thread(std::string_view content, RecordedThread& thread) {
  if (content.size() < 16) return false;
  std::string_view const name = content.substr(16);
  auto const size = load<std::uint64_t>(content.data() + 8);
  if (size > name.size()) return false;
  thread.os_thread = load<std::int64_t>(content.data());
  thread.name = name.substr(0, size);
  return true;
}

RecordedSite const* Recording::Cursor::site_of(std::uint32_t number) const noexcept {
  auto const& sites = number >= kLocalSite ? chunk().sites : recording_.sites_;
  std::uint32_t const index = (number & ~kLocalSite) - 1;
  return index < sites.size() ? sites[index].get() : nullptr;
}

}  // namespace tracing::inline v1::internal
