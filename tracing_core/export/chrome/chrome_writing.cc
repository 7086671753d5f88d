// The writing half of ChromeOutput, which holds the mutex writing_: turns recorded values into text and writes it.
//
// The problem. Formatting a record as JSON takes longer than recording it, and writing it takes a system call. A traced
// thread should do neither, and should not wait for other threads. Still the file must be a trace at any time, even if
// the process is killed, and then lack no more than the last 100 ms.
//
// The idea. A thread copies its records, unformatted, into a stream of its own (see chrome_stream.h). Later, one thread
// at a time, usually the worker, does a round over all streams, write_waiting():
//
//     look()           for each stream: fixes how far it is read in this round
//     merge_streams()  takes the oldest record of all streams, again and again, and appends its text to block_
//     write_block()    writes the block by one call: whenever it has kBlockBytes, and at the end of the round
//     settle()         for each stream: publishes how far its records are written
//
// Records that are made during a round wait for the next round, so a round ends however fast threads record. If the
// worker does not keep up, threads do rounds themselves: a thread whose records are as old as kMaxAgeNs, or a thread
// that records while more than kMaxFullBytes are waiting. So a slow disk slows the program down, but costs no records.
//
// The invariants.
//  - After each block the file has complete records only, and lacks nothing but the closing bracket: a block never ends
//    within a record, and a block that could not be written completely is removed from the file again.
//  - A record that is made while a file is open is written to one file, or dropped and counted.
//  - The records of a stream keep their order, and their times never decrease. Records of different streams are in the
//    order of time within a round; a record that was stamped but not yet published when the round began comes later.
//  - In each file the name of a thread precedes its first record. A lost block may have had names in it, so the file
//    counts as a new file from there on, and all names are written again.
//
// What was rejected. A common queue: threads would meet at its lock with each record. Formatting at once: only records
// that cannot wait are formatted at once, such as records of objects, which may not exist later, and of callsites made
// at run time; they come as text, to which at most the time is added. Waking the worker for each record: that costs
// more than the record, so the worker polls while records come, and parks when nothing waits. Comparing the first
// records of all streams to find the oldest: with 100,000 streams that took minutes, so the first records are kept in a
// heap.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/chrome/chrome_output.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace internal {

// ---- the list ----

void ChromeOutput::begin(Destination destination) noexcept {
  target_ = {std::move(destination)};
  target_.dropped_before = dropped();
  file_.fetch_add(1, std::memory_order_relaxed);
  write_head();  // write it at once, so that the file is a trace from now on
  start_worker();
  is_open_.store(true, std::memory_order_relaxed);
}

void ChromeOutput::complete() noexcept {
  if (target_.is_nowhere()) return;
  if ((target_.has_head || write_head()) && process_.closes_list) {
    write(as_tracing_chrome_ ? "\n]" : "\n]\n");  // a full disk may still have room for this
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
  if (!has_worker_ || worker_state_.is(WorkerState::Kind::parked))
    return;  // the next record must write, or wake the worker
  std::uint64_t const deadline = now + max_age_;
  for_each_stream([deadline](ChromeStream& stream) { stream.deadline.store(deadline, std::memory_order_relaxed); });
}

// Takes the oldest record of all streams, again and again. Stays with a stream as long as its next record is the
// oldest, since usually several records of one stream follow each other.
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

// Collects the first record of every stream, or of some streams if memory runs out: the others get their turn in the
// next call. Returns false if no stream has a record.
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
  if (target_.is_nowhere()) return;  // the record was made while no file was open
  if (reading.named_in != file_.load(std::memory_order_relaxed)) [[unlikely]]
    append_name(reading);
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

// Returns the time of a stream's next record, but never less than the time of the record before: the clock is
// calibrated now and then, which may shift neighbouring records by a few nanoseconds.
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
    return write_block();  // to make room
  }
  block_.records += count;
  if (text.size() >= kBlockBytes) write_block();
}

void ChromeOutput::write_block() noexcept {
  if (!block_.text.empty() && !write_records(block_.text.view())) [[unlikely]] {
    count_dropped(block_.records);
    file_.fetch_add(1, std::memory_order_relaxed);  // the block may have had names of threads
  }
  block_.text.clear();
  block_.records = 0;
}

// Writes records. `text` begins with a separator from the previous record; removes it if there is no previous record.
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
    formatting::append_json_text(head, process_.name);
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
    : descriptor_(descriptor),
      identity_(file_identity(descriptor)),
      blocks_signals_(may_raise_signal(descriptor)),
      path_(std::move(path)),
      error_fd_(error_fd) {}

TraceFile::~TraceFile() {
  if (file_identity(descriptor_) == identity_) close(descriptor_);
}

bool TraceFile::append(std::string_view text) noexcept {
  int const saved = errno;
  std::string_view rest = text;
  bool const is_ours = file_identity(descriptor_) == identity_;  // a system call for each block
  int const error = is_ours ? write_all(descriptor_, rest, blocks_signals_) : EBADF;
  if (error == 0) [[likely]] {
    size_ += text.size();
  } else if (is_ours) {
    // A part of the text may be in the file, and half a record would spoil the records after it.
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

}}}  // namespace tracing::v1::internal
