// The part of ChromeOutput that holds writing_: turns recorded values into text and writes it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/chrome_output.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/internal/open_file.h"

namespace tracing::inline v1::internal {

// ---- the list ----

void ChromeOutput::begin(Destination destination) noexcept {
  target_ = {std::move(destination)};
  target_.dropped_before = dropped();
  file_.fetch_add(1, std::memory_order_relaxed);
  write_head();  // at once, so that the file is a trace whatever happens
  start_worker();
  is_open_.store(true, std::memory_order_relaxed);
}

void ChromeOutput::complete() noexcept {
  if (target_.is_nowhere()) return;
  if ((target_.has_head || write_head()) && process_.closes_list) {
    write(as_tracing_chrome_ ? "\n]" : "\n]\n");  // there may be room for it if there was none for a block
  }
  Destination& destination = target_.destination;
  if (destination.sink != nullptr) destination.sink->flush();
  if (destination.file != nullptr) destination.file->report_missing(dropped() - target_.dropped_before);
  target_ = {};
}

// ---- from streams to text ----

void ChromeOutput::write_waiting() noexcept {
  InSubscriber const in_subscriber;
  std::uint64_t const now = ticks_now();
  for_each_stream([](ChromeStream& stream) { stream.look(); });
  clock_.calibrate();
  merge_streams();
  write_block();
  for_each_stream([](ChromeStream& stream) { stream.settle(); });
  MutexLock const lock(mutex_);
  max_age_ = clock_.ticks_in(clock_.calibrated_ns() < kMaxAgeNs ? kMaxAgeNs / 2 : kMaxAgeNs);
  if (!has_worker_ || worker_state_ == WorkerState::parked) return;  // the next record must write or wake it
  std::uint64_t const deadline = now + max_age_;
  for_each_stream([deadline](ChromeStream& stream) { stream.deadline.store(deadline, std::memory_order_relaxed); });
}

// Always takes the oldest record of all streams; usually several of one stream follow each other.
void ChromeOutput::merge_streams() noexcept {
  auto const is_later = [](Front const& a, Front const& b) { return a.head->ticks > b.head->ticks; };
  while (find_fronts(fronts_)) {
    std::make_heap(fronts_.begin(), fronts_.end(), is_later);
    while (!fronts_.empty()) {
      std::pop_heap(fronts_.begin(), fronts_.end(), is_later);
      Front& first = fronts_.back();
      std::uint64_t const second_ticks = fronts_.size() > 1 ? fronts_.front().head->ticks : ~std::uint64_t{0};
      do {
        std::size_t const bytes = first.head->size;
        take(*first.stream, *first.head);
        first.stream->pop(bytes);
        first.head = front_of(*first.stream);
      } while (first.head != nullptr && first.head->ticks <= second_ticks);
      if (first.head != nullptr) {
        std::push_heap(fronts_.begin(), fronts_.end(), is_later);
      } else {
        fronts_.pop_back();
      }
    }
  }
}

// Those of all streams that have records; of some of them if memory runs out. False if there are none.
bool ChromeOutput::find_fronts(std::vector<Front>& fronts) noexcept {
  for_each_stream([this, &fronts](ChromeStream& stream) {
    ChromeRecordHead const* const head = front_of(stream);
    if (head == nullptr) return;
    try {
      fronts.push_back({&stream, head});
    } catch (std::bad_alloc const&) {
    }
  });
  return !fronts.empty();
}

ChromeRecordHead const* ChromeOutput::front_of(ChromeStream& stream) noexcept {
  return stream.front([this](ChromeChunk* chunk) { give_back(chunk); });
}

void ChromeOutput::take(ChromeStream& stream, ChromeRecordHead const& head) noexcept {
  ChromeStream::Reading& reading = stream.reading;
  if (head.kind == ChromeRecordHead::Kind::thread) {
    return reading.set_thread(reinterpret_cast<ChromeThreadRecord const&>(head));
  }
  if (target_.is_nowhere()) return;  // it was recorded while the file was closed
  if (reading.named_in != file_.load(std::memory_order_relaxed)) [[unlikely]] append_name(reading);
  TextBuffer& text = block_.text;
  std::size_t const begin = text.size();
  if (head.kind == ChromeRecordHead::Kind::text) {
    auto const& record = reinterpret_cast<ChromeTextRecord const&>(head);
    text.append({reinterpret_cast<char const*>(&record + 1), record.text_size});
    if (!record.has_time) records_.end(text, next_time(reading, head.ticks));
  } else {
    auto const& record = reinterpret_cast<ChromeValuesRecord const&>(head);
    std::string_view const groups(reinterpret_cast<char const*>(&record + 1), head.size - sizeof(record));
    if (callsites_.append(text, record, groups)) [[likely]] {
      text.append(reading.tid_text.view());
    } else {
      records_.append_stored(text, head.phase, record.id, *record.metadata, groups, {process_.pid, reading.tid});
    }
    records_.end(text, next_time(reading, head.ticks));
  }
  end_record(begin, 1);
}

void ChromeStream::Reading::set_thread(ChromeThreadRecord const& record) noexcept {
  tid = record.tid;
  tid_text.clear();
  tid_text.append_int(tid);
  tid_text.append(",\"ts\":");
  name.clear();
  name.append({reinterpret_cast<char const*>(&record + 1), record.text_size});
  named_in = 0;
}

void ChromeOutput::append_name(ChromeStream::Reading& reading) noexcept {
  reading.named_in = file_.load(std::memory_order_relaxed);
  if (reading.name.empty()) return;
  std::size_t const begin = block_.text.size();
  block_.text.append(reading.name.view());
  end_record(begin, 0);
}

// The clock is calibrated now and then, which may shift neighbouring records by a few nanoseconds.
std::int64_t ChromeOutput::next_time(ChromeStream::Reading& reading, std::uint64_t ticks) const noexcept {
  return reading.last_ns = std::max(reading.last_ns, clock_.ns_at(ticks));
}

void ChromeOutput::give_back(ChromeChunk* chunk) noexcept {
  MutexLock const lock(mutex_);
  full_bytes_ -= chunk->capacity;
  if (chunk->capacity != ChromeChunk::kBytes || spare_count_ >= kMaxSpareChunks) return ChromeChunk::destroy(chunk);
  chunk->next.store(spare_chunks_, std::memory_order_relaxed);
  spare_chunks_ = chunk;
  ++spare_count_;
}

// ---- from text to the file ----

void ChromeOutput::end_record(std::size_t begin, std::uint32_t count) noexcept {
  TextBuffer& text = block_.text;
  if (text.truncated()) [[unlikely]] {
    text.resize_down(begin);
    count_dropped(count);
    return write_block();  // which makes room
  }
  block_.records += count;
  if (text.size() >= kBlockBytes) write_block();
}

void ChromeOutput::write_block() noexcept {
  if (!block_.text.empty() && !write_records(block_.text.view())) [[unlikely]] {
    count_dropped(block_.records);
    file_.fetch_add(1, std::memory_order_relaxed);  // names of threads may have been among them
  }
  block_.text.clear();
  block_.records = 0;
}

// The text begins with the comma that separates it from the record before.
bool ChromeOutput::write_records(std::string_view text) noexcept {
  if (!target_.has_head && !write_head()) return false;
  if (!target_.has_record) text.remove_prefix(2);
  if (!write(text)) return false;
  target_.has_record = true;
  return true;
}

bool ChromeOutput::write_head() noexcept {
  InlineTextBuffer<512> head;
  head.append(process_.opens_list ? "[\n" : ",\n");
  if (!as_tracing_chrome_) {
    head.append("{\"args\":{\"name\":");
    append_json_text(head, process_.name);
    head.append("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
    head.append_int(process_.pid);
    head.append(",\"tid\":");
    head.append_int(process_.pid);
    head.push_back('}');
  }
  target_.has_head = write(head.view());
  target_.has_record = target_.has_head && !as_tracing_chrome_;
  return target_.has_head;
}

bool ChromeOutput::write(std::string_view text) noexcept {
  if (target_.destination.sink != nullptr) return target_.destination.sink->write(Level::info, text), true;
  return target_.destination.file != nullptr && target_.destination.file->append(text);
}

// ---- the file ----

std::unique_ptr<TraceFile> TraceFile::create(std::string path, int error_fd, std::error_code& error) {
  int const descriptor = open_new_file(path.c_str(), O_WRONLY | O_APPEND);
  if (descriptor < 0) {
    error.assign(errno, std::generic_category());
    report_failure(error_fd, path, error.value());
    return nullptr;
  }
  error.clear();
  return adopt(descriptor, std::move(path), error_fd);
}

std::unique_ptr<TraceFile> TraceFile::adopt(int descriptor, std::string path, int error_fd) {
  return std::unique_ptr<TraceFile>(new TraceFile(descriptor, std::move(path), error_fd));
}

TraceFile::TraceFile(int descriptor, std::string path, int error_fd) noexcept
    : descriptor_(descriptor), identity_(file_identity(descriptor)), blocks_signals_(may_raise_signal(descriptor)),
      path_(std::move(path)), error_fd_(error_fd) {}

TraceFile::~TraceFile() {
  if (file_identity(descriptor_) == identity_) close(descriptor_);
}

bool TraceFile::append(std::string_view text) noexcept {
  int const saved = errno;
  std::string_view rest = text;
  bool const is_ours = file_identity(descriptor_) == identity_;  // a call for each block
  int const error = is_ours ? write_all(descriptor_, rest, blocks_signals_) : EBADF;
  if (error == 0) [[likely]] {
    size_ += text.size();
  } else if (is_ours) {
    // A part of it may be there, and half a record would spoil what follows.
    (void)!ftruncate(descriptor_, static_cast<off_t>(size_));
    if (!std::exchange(failed_, true)) report_failure(error_fd_, path_, error);
  }
  errno = saved;
  return error == 0;
}

void TraceFile::report_missing(std::uint64_t count) const noexcept {
  if (count == 0 || error_fd_ < 0 || file_identity(descriptor_) != identity_) return;
  InlineTextBuffer<512> line;
  line.append("tracing: ");
  line.append_uint(count);
  line.append(count == 1 ? " record is missing in the trace " : " records are missing in the trace ");
  line.append(path_);
  line.push_back('\n');
  (void)write_once(error_fd_, line.view());
}

void TraceFile::report_failure(int error_fd, std::string_view path, int error) noexcept {
  if (error_fd < 0) return;
  InlineTextBuffer<512> line;
  line.append("tracing: cannot write the trace ");
  line.append(path);
  line.append(": ");
  append_error(line, error);
  line.push_back('\n');
  (void)write_once(error_fd, line.view());
}

}  // namespace tracing::inline v1::internal
