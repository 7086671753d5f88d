// The half of ChromeOutput that holds writing_: what threads recorded becomes text and goes to the file.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/chrome_limits.h"
#include "tracing_core/export/chrome_output.h"
#include "tracing_core/format/json_value.h"

namespace tracing::inline v1::internal {
namespace {

constinit std::atomic<std::uint64_t> last_list{0};
std::uint64_t next_list() noexcept { return last_list.fetch_add(1, std::memory_order_relaxed) + 1; }

}  // namespace

// ---- the list ----

void ChromeOutput::begin(Destination destination) noexcept {
  now_ = {std::move(destination)};
  now_.dropped_before = dropped();
  write_head();  // whatever comes, the file is a trace
  start_thread();
  block_.place = now_.aligns ? now_.destination.file->size() : 0;
  Lock const lock(mutex_);
  file_ = first_list_ = next_list();
  list_.store(first_list_, std::memory_order_relaxed);
}

void ChromeOutput::end() noexcept {
  {
    Lock const lock(mutex_);
    if (list_.exchange(0, std::memory_order_relaxed) == 0) return;
  }
  write_waiting();
  first_list_ = kNoList;  // what was being recorded just now is late
  complete();
}

// Threads tell their names again in the next list, and behind those their records wait. What is being recorded just now for the
// list that ends may come too late for it, and goes into the next one.
void ChromeOutput::go_on_in(List next) noexcept {
  std::swap(now_, next);
  write_head();
  std::swap(now_, next);
  {
    Lock const lock(mutex_);
    next_list_ = next_list();
    list_.store(next_list_, std::memory_order_relaxed);
  }
  write_waiting();
  file_ = std::exchange(next_list_, kNoList);
  complete();
  now_ = std::move(next);
  now_.dropped_before = dropped();
  block_.place = now_.aligns ? now_.destination.file->size() : 0;
}

void ChromeOutput::complete() noexcept {
  if (now_.has_head || write_head()) {
    write(as_tracing_chrome_ ? "\n]" : "\n]\n");  // which may have room where a block has none
  }
  Destination& destination = now_.destination;
  if (destination.sink != nullptr) destination.sink->flush();
  if (destination.file != nullptr) destination.file->tell_missing(dropped() - now_.dropped_before);
  now_ = {};  // of many files, one after the other, one is open
}

// ---- from streams to text ----

void ChromeOutput::write_waiting() noexcept {
  InSubscriber const in_subscriber;
  std::uint64_t const now = ticks_now();
  for_each_stream([](ChromeStream& stream) { stream.look(); });
  clock_.go_on();
  merge_streams();
  write_block();
  for_each_stream([](ChromeStream& stream) { stream.settle(); });
  Lock const lock(mutex_);
  most_age_ = clock_.ticks_in(clock_.known_ns() < kMostAgeNs ? kMostAgeNs / 2 : kMostAgeNs);
  if (rest_ == Rest::asleep) return;  // the next record is to wake it
  for_each_stream([&](ChromeStream& stream) { stream.deadline.store(now + most_age_, std::memory_order_relaxed); });
}

// Always the oldest record that any stream has next; as a rule several of one stream stand together.
void ChromeOutput::merge_streams() noexcept {
  auto const front = [this](ChromeStream& stream) {
    ChromeRecordHead const* const head = stream.front([this](ChromeChunk* chunk) { give_back(chunk); });
    return head != nullptr && has_to_wait(*head) ? nullptr : head;
  };
  for (;;) {
    ChromeStream* first = nullptr;
    ChromeRecordHead const* head = nullptr;
    std::uint64_t second_ticks = ~std::uint64_t{0};
    for_each_stream([&](ChromeStream& stream) {
      ChromeRecordHead const* const own = front(stream);
      if (own == nullptr) return;
      if (head == nullptr || own->ticks < head->ticks) {
        if (head != nullptr) second_ticks = head->ticks;
        first = &stream;
        head = own;
      } else {
        second_ticks = std::min(second_ticks, own->ticks);
      }
    });
    if (first == nullptr) return;
    do {
      std::size_t const bytes = head->size;
      take(*first, *head);
      first->pop(bytes);
      head = front(*first);
    } while (head != nullptr && head->ticks <= second_ticks);
  }
}

bool ChromeOutput::has_to_wait(ChromeRecordHead const& head) const noexcept {
  return head.kind == ChromeRecordHead::Kind::thread &&
         reinterpret_cast<ChromeThreadRecord const&>(head).list >= next_list_;
}

void ChromeOutput::take(ChromeStream& stream, ChromeRecordHead const& head) noexcept {
  ChromeStream::Reading& reading = stream.reading;
  if (head.kind == ChromeRecordHead::Kind::thread) {
    return take_thread(reading, reinterpret_cast<ChromeThreadRecord const&>(head));
  }
  if (reading.list < first_list_) return;  // it came too late for the list that it was made for
  if (reading.named_in != file_) [[unlikely]] append_name(reading);
  TextBuffer& text = block_.text;
  std::size_t const begin = text.size();
  if (head.kind == ChromeRecordHead::Kind::text) {
    auto const& record = reinterpret_cast<ChromeTextRecord const&>(head);
    text.append({reinterpret_cast<char const*>(&record + 1), record.text_size});
    if (!record.has_time) records_.end(text, next_time(reading, head.ticks));
  } else {
    append_values(reading, reinterpret_cast<ChromeValuesRecord const&>(head));
    records_.end(text, next_time(reading, head.ticks));
  }
  end_record(begin, 1);
}

void ChromeOutput::take_thread(ChromeStream::Reading& reading, ChromeThreadRecord const& record) noexcept {
  reading.list = record.list;
  reading.tid = record.tid;
  reading.tid_size = static_cast<std::uint32_t>(
      std::to_chars(reading.tid_digits, std::end(reading.tid_digits), record.tid).ptr - reading.tid_digits);
  reading.name.clear();
  reading.name.append({reinterpret_cast<char const*>(&record + 1), record.text_size});
  reading.named_in = 0;
}

void ChromeOutput::append_name(ChromeStream::Reading& reading) noexcept {
  reading.named_in = file_;
  if (reading.name.empty()) return;
  std::size_t const begin = block_.text.size();
  block_.text.append(reading.name.view());
  end_record(begin, 0);
}

void ChromeOutput::append_values(ChromeStream::Reading const& reading, ChromeValuesRecord const& record) noexcept {
  Metadata const& metadata = *record.metadata;
  char const phase = record.head.phase;
  std::string_view const groups(reinterpret_cast<char const*>(&record + 1), record.head.size - sizeof(record));
  if (record.id == 0 && callsites_.append(block_.text, phase, metadata, groups, reading.tid_text())) return;
  records_.append_stored(block_.text, phase, record.id, metadata, groups, {pid_, reading.tid});
}

// The clock is looked at anew now and then, which may shift what lies close together by a few nanoseconds.
std::int64_t ChromeOutput::next_time(ChromeStream::Reading& reading, std::uint64_t ticks) const noexcept {
  return reading.last_ns = std::max(reading.last_ns, clock_.ns_at(ticks));
}

void ChromeOutput::give_back(ChromeChunk* chunk) noexcept {
  Lock const lock(mutex_);
  full_bytes_ -= chunk->capacity;
  if (chunk->capacity != ChromeChunk::kBytes || spare_count_ >= kMostSpareChunks) return ChromeChunk::destroy(chunk);
  chunk->next.store(spare_chunks_, std::memory_order_relaxed);
  spare_chunks_ = chunk;
  ++spare_count_;
}

// ---- from text to the file ----

void ChromeOutput::write_record(std::string_view text) noexcept {
  std::size_t const begin = block_.text.size();
  block_.text.append(text);
  end_record(begin, 1);
  write_block();
}

void ChromeOutput::end_record(std::size_t begin, std::uint32_t count) noexcept {
  TextBuffer& text = block_.text;
  std::size_t const size = text.size() - begin;
  if (std::size_t const blanks = now_.aligns ? TraceFile::blanks_before(size, block_.place + begin) : 0; blanks != 0) {
    if (text.reserve(blanks) != nullptr) {
      char* const at = text.reserve(blanks) - size;
      std::memmove(at + blanks, at, size);
      std::memset(at, ' ', blanks);
      text.commit(blanks);
    }
  }
  if (text.truncated()) [[unlikely]] {
    text.resize_down(begin);
    count_dropped(count);
    return write_block();  // which makes room
  }
  block_.records += count;
  if (text.size() >= kBlockBytes) write_block();
}

void ChromeOutput::write_block() noexcept {
  if (!block_.text.empty()) {
    if (std::uint32_t const missing = write(block_); missing > 0) [[unlikely]] {
      count_dropped(missing);
      // The names of threads may have been among it: all tell theirs again.
      Lock const lock(mutex_);
      if (list_.load(std::memory_order_relaxed) != 0) list_.store(next_list(), std::memory_order_relaxed);
    }
  }
  block_.place += block_.text.size();
  block_.text.clear();
  block_.records = 0;
}

// How many records could not be written.
std::uint32_t ChromeOutput::write(Block const& block) noexcept {
  if (!now_.has_head && !write_head()) return block.records;
  std::string_view text = block.text.view();
  if (text.empty()) return 0;
  if (!now_.has_record) text.remove_prefix(2);
  if (now_.aligns && !now_.destination.file->go_to_page_offset(block.place)) return block.records;
  if (!write(text)) return now_.has_record ? write_parts(text) : block.records;
  now_.has_record = true;
  return 0;
}

// Where there is no room for a block, there may be for the beginning of it. Texts in JSON have no line ends, so those stand
// between records.
std::uint32_t ChromeOutput::write_parts(std::string_view text) noexcept {
  constexpr std::size_t kPartBytes = 4096;
  std::size_t end = 0;
  do {
    text.remove_prefix(end);
    end = std::min(text.find(",\n", kPartBytes), text.size());
  } while (end > 0 && write(text.substr(0, end)));
  std::uint32_t missing = 0;
  for (std::size_t at = 0; (at = text.find(",\n{", at)) != text.npos; ++at) ++missing;
  constexpr std::string_view kName = "},\"name\":\"thread_name\",\"ph\":\"M\"";
  for (std::size_t at = 0; (at = text.find(kName, at)) != text.npos; ++at) --missing;
  return missing;
}

bool ChromeOutput::write_head() noexcept {
  InlineTextBuffer<512> head;
  head.append("[\n");
  if (!as_tracing_chrome_) {
    head.append("{\"args\":{\"name\":");
    append_json_text(head, program_invocation_short_name);
    head.append("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
    head.append_int(pid_);
    head.append(",\"tid\":");
    head.append_int(pid_);
    head.push_back('}');
  }
  now_.has_head = write(head.view());
  now_.has_record = now_.has_head && !as_tracing_chrome_;
  now_.aligns = now_.destination.file != nullptr && now_.destination.file->is_regular() && !as_tracing_chrome_;
  return now_.has_head;
}

bool ChromeOutput::write(std::string_view text) noexcept {
  if (now_.destination.sink != nullptr) return now_.destination.sink->write(Level::info, text), true;
  return now_.destination.file != nullptr && now_.destination.file->append(text);
}

}  // namespace tracing::inline v1::internal
