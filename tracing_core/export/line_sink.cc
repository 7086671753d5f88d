#include "tracing_core/export/line_sink.h"

#include <spdlog/pattern_formatter.h>

#include <deque>

#include "tracing_core/internal/mutex.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

// For messages of spdlog loggers; ours are not formatted here.
struct LineSink::Formatting {
  internal::Mutex mutex;
  std::unique_ptr<spdlog::formatter> formatter TRACING_GUARDED_BY(mutex);
};

LineSink::LineSink() : formatting_(std::make_unique<Formatting>()) {}
LineSink::~LineSink() = default;

void LineSink::log(spdlog::details::log_msg const& message) {
  Level const level = from_spdlog(message.level);
  spdlog::memory_buf_t formatted;
  {
    internal::MutexLock const lock(formatting_->mutex);
    if (formatting_->formatter != nullptr) formatting_->formatter->format(message, formatted);
  }
  if (formatted.size() > 0) return write(level, {formatted.data(), formatted.size()});
  InlineTextBuffer<512> line;
  line.append({message.payload.data(), message.payload.size()});
  if (line.empty() || line.view().back() != '\n') line.push_back('\n');
  write(level, line.view());
}

void LineSink::set_pattern(std::string const& pattern) {
  set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
}

void LineSink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  internal::MutexLock const lock(formatting_->mutex);
  formatting_->formatter = std::move(formatter);
}

// ---- CountingSink ----

struct CountingSink::Counters {
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> bytes{0};
  };
  internal::Mutex mutex;
  std::deque<Counter> all TRACING_GUARDED_BY(mutex);  // one for each time that a thread came from another sink
};

namespace {

std::uint64_t next_sink_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The counter that the thread used last.
struct LastCounter {
  std::uint64_t sink_number = 0;
  std::atomic<std::uint64_t>* bytes = nullptr;
};
constinit thread_local LastCounter last_counter;

}  // namespace

CountingSink::CountingSink() : number_(next_sink_number()), counters_(std::make_unique<Counters>()) {}
CountingSink::~CountingSink() = default;

std::atomic<std::uint64_t>& CountingSink::counter() noexcept {
  if (last_counter.sink_number != number_) [[unlikely]] {
    internal::MutexLock const lock(counters_->mutex);
    last_counter = {number_, &counters_->all.emplace_back().bytes};
  }
  return *last_counter.bytes;
}

std::uint64_t CountingSink::bytes() const noexcept {
  internal::MutexLock const lock(counters_->mutex);
  std::uint64_t sum = 0;
  for (Counters::Counter const& counter : counters_->all) sum += counter.bytes.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace tracing::inline v1
