#include "tracing_core/export/sink_call.h"

#include <atomic>
#include <chrono>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/writer.h"

namespace tracing::inline v1 {
namespace {

constinit std::atomic<std::uint64_t> failed_calls{0};

template <class F>
void count_failure(F call) noexcept {
  try {
    call();
  } catch (...) {
    failed_calls.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

std::uint64_t failed_sink_calls() noexcept { return failed_calls.load(std::memory_order_relaxed); }

namespace internal {

void give_to(spdlog::sinks::sink& sink, SinkCall const& call) noexcept {
  std::string_view text = call.text;
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  spdlog::details::log_msg message;  // the constructors with arguments read the clock
  message.logger_name = {call.target.data(), call.target.size()};
  message.level = to_spdlog(call.level);
  Instant const time = call.time ? call.time : Instant::now();
  message.time = spdlog::log_clock::time_point(
      std::chrono::duration_cast<spdlog::log_clock::duration>(std::chrono::nanoseconds(time.ns)));
  message.thread_id = static_cast<std::size_t>(call.os_thread);
  message.payload = {text.data(), text.size()};
  if (!call.file.empty()) message.source = {call.file.data(), static_cast<int>(call.line), ""};
  count_failure([&] { sink.log(message); });
}

void flush_sink(spdlog::sinks::sink& sink) noexcept {
  count_failure([&] { sink.flush(); });
}

}  // namespace internal
}  // namespace tracing::inline v1
