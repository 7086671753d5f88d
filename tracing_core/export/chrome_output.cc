#include "tracing_core/export/chrome_output.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/internal/thread_info.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {
namespace {

// The thread writes after a while, so that it does not write each record by itself, or when so much waits. Waking it costs more
// than many records.
constexpr std::chrono::milliseconds kDoze{10};
constexpr std::size_t kEnoughBytes = 256 * 1024;
// So much waits at most: who adds more writes it.
constexpr std::size_t kMostBytes = 1024 * 1024;
// Tracks that are no threads of this process are numbered from here on, above all numbers that the system gives to threads.
constexpr std::int64_t kFirstOtherTrack = 1 << 30;

constinit std::atomic<std::uint64_t> last_list{0};

// What the thread knows of the lists that it wrote to last, so that it asks nobody for its own number.
struct KnownList {
  std::uint64_t list;
  std::uint64_t track;
  std::int64_t tid;
};
constexpr unsigned kKnownLists = 4;
[[gnu::tls_model("initial-exec")]] constinit thread_local KnownList known_lists[kKnownLists] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned next_known_list = 0;

}  // namespace

std::shared_ptr<ChromeOutput> ChromeOutput::make(Destination destination, Options options, std::error_code error) {
  count_forks();
  return {new ChromeOutput(std::move(destination), options, error), Abandoned::let_go<ChromeOutput>};
}

ChromeOutput::ChromeOutput(Destination destination, Options options, std::error_code error)
    : options_(options), forks_when_made_(fork_count()), pid_(options.as_tracing_chrome ? 1 : getpid()),
      destination_(std::move(destination)), error_(error) {
  if (destination_.file != nullptr || destination_.sink != nullptr) begin();
}

ChromeOutput::~ChromeOutput() { finish(); }

bool ChromeOutput::is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

ChromeOutput::Thread ChromeOutput::thread(Track const& track) noexcept {
  std::uint64_t const list = list_.load(std::memory_order_relaxed);
  for (KnownList const& known : known_lists) {
    if (known.list == list && known.track == track.number) [[likely]] return {known.tid, false};
  }
  Thread found{};
  try {
    Lock const lock(mutex_);
    found = find(track);
  } catch (...) {
    found = {kFirstOtherTrack + static_cast<std::int64_t>(track.number), false};
  }
  known_lists[next_known_list++ % kKnownLists] = {list, track.number, found.tid};
  return found;
}

ChromeOutput::Thread ChromeOutput::find(Track const& track) {
  ThreadInfo const& own = this_thread_info();
  if (!options_.as_tracing_chrome && track.number == own.number) return {own.os_thread, true};
  auto const tid = options_.as_tracing_chrome ? static_cast<std::int64_t>(tracks_.size())
                                              : kFirstOtherTrack + static_cast<std::int64_t>(track.number);
  KnownTrack& known = tracks_.try_emplace(track.number, KnownTrack{tid, 0}).first->second;
  std::uint64_t const list = list_.load(std::memory_order_relaxed);
  return {known.tid, std::exchange(known.list, list) != list};
}

// ---- on the threads that record ----

void ChromeOutput::add(std::string_view records, std::uint32_t count, Instant time) noexcept {
  if (is_in_forked_child()) return;
  bool writes = options_.write_through || !has_thread_.load(std::memory_order_relaxed);
  {
    Lock const lock(mutex_);
    if (!is_open()) return;
    if (!append(records, count, time)) [[unlikely]] {
      count_dropped(count);
      writes = true;  // which makes room
    }
    std::size_t const size = filling_->text.size();
    writes = writes || size >= kMostBytes || is_too_old(time);
    if (!writes && (rest_ == Rest::asleep || (rest_ == Rest::dozing && size >= kEnoughBytes))) wake();
  }
  if (!writes) [[likely]] return;
  Lock const lock(writing_);
  write_waiting();
}

bool ChromeOutput::append(std::string_view records, std::uint32_t count, Instant time) noexcept {
  TextBuffer& text = filling_->text;
  std::size_t const before = text.size();
  if (aligns_) text.append(TraceFile::blanks_before(records.size(), filling_->place + before), ' ');
  text.append(records);
  if (text.truncated()) [[unlikely]] {
    text.resize_down(before);
    return false;
  }
  filling_->records += count;
  if (filling_->oldest_ns == kNever && time) filling_->oldest_ns = time.ns;
  unwritten_.store(unwritten_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return true;
}

// A clock that was set back makes nothing old, one that was set forward writes once too often.
bool ChromeOutput::is_too_old(Instant time) const noexcept {
  constexpr std::int64_t kMostNs = std::chrono::nanoseconds(kMostAge).count();
  std::int64_t const oldest = std::min(filling_->oldest_ns, written_oldest_ns_);
  return time && oldest != kNever && time.ns - oldest > kMostNs;
}

void ChromeOutput::wake() noexcept {
  rest_ = Rest::awake;
  wake_.notify_one();
}

// ---- the thread ----

void ChromeOutput::start_thread() noexcept {
  if (options_.write_through || worker_.joinable()) return;
  try {
    WithoutSignals const blocked;
    worker_ = std::thread([this] { run(); });
    has_thread_ = true;
  } catch (...) {  // then the threads that record write
  }
}

void ChromeOutput::run() noexcept {
  InSubscriber const in_subscriber;  // what a sink emits would wait for the lock that it is called under
  pthread_setname_np(pthread_self(), "tracing-chrome");
  Lock lock(mutex_);
  while (!stopping_) {
    auto const is_awake = [this] { return stopping_ || rest_ == Rest::awake; };
    if (filling_->text.empty()) {
      rest_ = Rest::asleep;
      wake_.wait(lock, is_awake);
    }
    rest_ = Rest::dozing;
    if (filling_->text.size() < kEnoughBytes) wake_.wait_for(lock, kDoze, is_awake);
    rest_ = Rest::awake;
    lock.unlock();
    {
      Lock const writing(writing_);
      write_waiting();
    }
    lock.lock();
  }
}

// ---- writing ----

void ChromeOutput::flush() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  write_waiting();
  if (destination_.sink != nullptr) destination_.sink->flush();
}

void ChromeOutput::start_new(Destination destination) noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  end();
  destination_ = std::move(destination);
  error_.clear();
  begin();
}

void ChromeOutput::close() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  end();
}

void ChromeOutput::finish() noexcept {
  close();
  if (is_in_forked_child() || !worker_.joinable()) return;
  has_thread_ = false;
  {
    Lock const lock(mutex_);
    stopping_ = true;
    wake();
  }
  worker_.join();
}

std::error_code ChromeOutput::error() const noexcept {
  if (is_in_forked_child()) return {};
  Lock const lock(writing_);
  return error_;
}

std::string ChromeOutput::path() const {
  if (is_in_forked_child()) return {};
  Lock const lock(writing_);
  return destination_.file == nullptr ? std::string() : destination_.file->path();
}

void ChromeOutput::begin() noexcept {
  has_head_ = has_record_ = false;
  dropped_before_ = dropped();
  write_head();  // whatever comes, the file is a trace
  start_thread();
  Lock const lock(mutex_);
  list_.store(last_list.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  aligns_ = aligns();
  filling_->place = aligns_ ? destination_.file->size() : 0;
  open_.store(true, std::memory_order_relaxed);
}

void ChromeOutput::end() noexcept {
  {
    Lock const lock(mutex_);
    if (!open_.exchange(false, std::memory_order_relaxed)) return;
  }
  write_waiting();
  if (has_head_ || write_head()) {
    write(options_.as_tracing_chrome ? "\n]" : "\n]\n");  // which may have room where a block has none
  }
  if (destination_.sink != nullptr) destination_.sink->flush();
  if (destination_.file != nullptr) destination_.file->tell_missing(dropped() - dropped_before_);
  destination_ = {};  // of many files, one after the other, one is open
}

void ChromeOutput::write_waiting() noexcept {
  Block* block;
  {
    Lock const lock(mutex_);
    block = filling_;
    if (block->text.empty() && !block->text.truncated()) return;
    filling_ = block == &blocks_[0] ? &blocks_[1] : &blocks_[0];
    filling_->place = block->place + block->text.size();
    written_oldest_ns_ = block->oldest_ns;
  }
  InSubscriber const in_subscriber;
  if (std::uint32_t const missing = write(*block); missing > 0) [[unlikely]] {
    count_dropped(missing);
    // The names of threads may have been among it: all tell theirs again.
    list_.store(last_list.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Lock const lock(mutex_);
  written_oldest_ns_ = kNever;
  unwritten_.store(unwritten_.load(std::memory_order_relaxed) - block->records, std::memory_order_relaxed);
  block->text.clear();
  block->records = 0;
  block->oldest_ns = kNever;
}

// How many records could not be written.
std::uint32_t ChromeOutput::write(Block const& block) noexcept {
  if (!has_head_ && !write_head()) return block.records;
  std::string_view text = block.text.view();
  if (text.empty()) return 0;
  if (!has_record_) text.remove_prefix(2);
  if (aligns() && !destination_.file->go_to_page_offset(block.place)) return block.records;
  if (!write(text)) return has_record_ ? write_parts(text) : block.records;
  has_record_ = true;
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
  if (!options_.as_tracing_chrome) {
    head.append("{\"args\":{\"name\":");
    append_json_text(head, program_invocation_short_name);
    head.append("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
    head.append_int(pid_);
    head.append(",\"tid\":");
    head.append_int(pid_);
    head.push_back('}');
  }
  has_head_ = write(head.view());
  has_record_ = has_head_ && !options_.as_tracing_chrome;
  return has_head_;
}

bool ChromeOutput::write(std::string_view text) noexcept {
  if (destination_.sink != nullptr) return destination_.sink->write(Level::info, text), true;
  return destination_.file != nullptr && destination_.file->append(text);
}

std::string default_trace_path() { return "trace-" + std::to_string(Instant::now().ns / 1000) + ".json"; }

}  // namespace tracing::inline v1::internal
