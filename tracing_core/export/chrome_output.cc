#include "tracing_core/export/chrome_output.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "tracing_core/export/fork_count.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/internal/thread_info.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
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

ChromeOutput::~ChromeOutput() { close(); }

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

void ChromeOutput::add(std::string_view records, std::uint32_t count) noexcept {
  if (is_in_forked_child()) return;
  Lock const lock(mutex_);
  if (!is_open()) return;
  if (is_first_) records.remove_prefix(2);
  if (records.size() > kBlockBytes) [[unlikely]] {
    write_waiting();
    return settle(write(records), count);
  }
  std::size_t const before = waiting_.size();
  if (destination_.file != nullptr && !options_.as_tracing_chrome) {
    waiting_.append(destination_.file->blanks_before(records.size(), before), ' ');
  }
  waiting_.append(records);
  if (waiting_.truncated()) [[unlikely]] {
    waiting_.resize_down(before);
    write_waiting();
    return settle(false, count);
  }
  is_first_ = false;
  waiting_records_ += count;
  if (options_.write_through || waiting_.size() >= kBlockBytes) write_waiting();
}

void ChromeOutput::flush() noexcept {
  if (is_in_forked_child()) return;
  Lock const lock(mutex_);
  write_waiting();
  if (destination_.sink != nullptr) destination_.sink->flush();
}

void ChromeOutput::start_new(Destination destination) noexcept {
  if (is_in_forked_child()) return;
  Lock const lock(mutex_);
  end();
  destination_ = std::move(destination);
  error_.clear();
  begin();
}

void ChromeOutput::close() noexcept {
  if (is_in_forked_child()) return;
  Lock const lock(mutex_);
  end();
}

std::error_code ChromeOutput::error() const noexcept {
  if (is_in_forked_child()) return {};
  Lock const lock(mutex_);
  return error_;
}

std::string ChromeOutput::path() const {
  if (is_in_forked_child()) return {};
  Lock const lock(mutex_);
  return destination_.file == nullptr ? std::string() : destination_.file->path();
}

void ChromeOutput::begin() noexcept {
  has_head_ = has_record_ = false;
  append_head();
  write_waiting();  // whatever comes, the file is a trace
  open_.store(true, std::memory_order_relaxed);
}

void ChromeOutput::append_head() noexcept {
  list_.store(last_list.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  waiting_.clear();
  waiting_.append("[\n");
  is_first_ = options_.as_tracing_chrome;
  if (is_first_) return;
  waiting_.append("{\"args\":{\"name\":");
  append_json_text(waiting_, program_invocation_short_name);
  waiting_.append("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
  waiting_.append_int(pid_);
  waiting_.append(",\"tid\":");
  waiting_.append_int(pid_);
  waiting_.push_back('}');
}

void ChromeOutput::end() noexcept {
  if (!open_.exchange(false, std::memory_order_relaxed)) return;
  write_waiting();
  waiting_.append(options_.as_tracing_chrome ? "\n]" : "\n]\n");  // which may have room where a block has none
  write_waiting();
  waiting_.clear();
  if (destination_.sink != nullptr) destination_.sink->flush();
  destination_ = {};  // of many files, one after the other, one is open
}

void ChromeOutput::write_waiting() noexcept {
  if (waiting_.empty()) return;
  bool const written = write(waiting_.view());
  waiting_.clear();
  settle(written, std::exchange(waiting_records_, 0));
}

void ChromeOutput::settle(bool written, std::uint32_t count) noexcept {
  if (written) [[likely]] {
    has_head_ = true;
    has_record_ = has_record_ || count > 0 || !options_.as_tracing_chrome;
    is_first_ = !has_record_;
    return;
  }
  count_dropped(count);
  if (!has_head_) return append_head();
  is_first_ = !has_record_;
  // The names of threads may have been among it: all tell theirs again.
  list_.store(last_list.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool ChromeOutput::write(std::string_view text) noexcept {
  if (destination_.sink != nullptr) return destination_.sink->write(Level::info, text), true;
  return destination_.file != nullptr && destination_.file->append(text);
}

std::string default_trace_path() { return "trace-" + std::to_string(Instant::now().ns / 1000) + ".json"; }

}  // namespace tracing::inline v1::internal
