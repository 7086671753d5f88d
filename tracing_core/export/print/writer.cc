#include "tracing_core/export/writer.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print/sink_call.h"
#include "tracing_core/export/spdlog_calls.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 {
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

void write_to(spdlog::sinks::sink& sink, LineSink* line_sink, Line const& line) noexcept {
  Metadata const& metadata = line.metadata;
  if (!internal::should_log(sink, to_spdlog(metadata.level()))) return;
  if (line_sink != nullptr) return line_sink->write(metadata.level(), line.text);
  internal::give_to(sink, {.level = metadata.level(),
                           .text = line.text,
                           .time = line.time,
                           .os_thread = support::this_thread_info().os_thread,
                           .target = metadata.target(),
                           .file = metadata.file(),
                           .line = metadata.line()});
}

class ToSink final : public Writer {
 public:
  explicit ToSink(SinkPtr sink) : sink_(std::move(sink)), line_sink_(dynamic_cast<LineSink*>(sink_.get())) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return sink_ != nullptr && internal::should_log(*sink_, to_spdlog(metadata.level()));
  }
  void write(Line const& line) noexcept override {
    if (sink_ != nullptr) write_to(*sink_, line_sink_, line);
  }
  void flush() noexcept override {
    if (sink_ != nullptr) internal::flush_sink(*sink_);
  }
  spdlog::sinks::sink* only_sink() const noexcept override { return sink_.get(); }

 private:
  SinkPtr const sink_;
  LineSink* const line_sink_;
};

class Filtered final : public Writer {
 public:
  Filtered(WriterPtr writer, std::function<bool(Metadata const&)> passes)
      : writer_(std::move(writer)), passes_(std::move(passes)) {}

  bool wants(Metadata const& metadata) const noexcept override { return passes_(metadata) && writer_->wants(metadata); }
  void write(Line const& line) noexcept override {
    if (passes_(line.metadata)) writer_->write(line);
  }
  void flush() noexcept override { writer_->flush(); }

 private:
  WriterPtr const writer_;
  std::function<bool(Metadata const&)> const passes_;
};

class Choosing final : public Writer {
 public:
  explicit Choosing(std::function<SinkPtr(Metadata const&)> choose) : choose_(std::move(choose)) {}

  // Returns false for a line without a sink, so that or_else() passes it to the second writer.
  bool wants(Metadata const& metadata) const noexcept override {
    SinkPtr const sink = choose_(metadata);
    return sink != nullptr && internal::should_log(*sink, to_spdlog(metadata.level()));
  }
  void write(Line const& line) noexcept override {
    if (SinkPtr const sink = choose_(line.metadata)) write_to(*sink, dynamic_cast<LineSink*>(sink.get()), line);
  }

 private:
  std::function<SinkPtr(Metadata const&)> const choose_;
};

// Passes each line to both writers, or to the first that wants it.
class Pair final : public Writer {
 public:
  Pair(WriterPtr first, WriterPtr second, bool both)
      : first_(std::move(first)), second_(std::move(second)), both_(both) {}

  bool wants(Metadata const& metadata) const noexcept override {
    return first_->wants(metadata) || second_->wants(metadata);
  }
  void write(Line const& line) noexcept override {
    bool const to_first = both_ || first_->wants(line.metadata);
    if (to_first) first_->write(line);
    if (both_ || !to_first) second_->write(line);
  }
  void flush() noexcept override {
    first_->flush();
    second_->flush();
  }

 private:
  WriterPtr const first_;
  WriterPtr const second_;
  bool const both_;
};

}  // namespace

WriterPtr to_sink(SinkPtr sink) { return std::make_shared<ToSink>(std::move(sink)); }
WriterPtr tee(WriterPtr first, WriterPtr second) {
  return std::make_shared<Pair>(std::move(first), std::move(second), true);
}
WriterPtr or_else(WriterPtr first, WriterPtr second) {
  return std::make_shared<Pair>(std::move(first), std::move(second), false);
}
WriterPtr with_max_level(WriterPtr writer, Level level) {
  return with_filter(std::move(writer), [level](Metadata const& metadata) { return metadata.level() <= level; });
}
WriterPtr with_min_level(WriterPtr writer, Level level) {
  return with_filter(std::move(writer), [level](Metadata const& metadata) { return metadata.level() >= level; });
}
WriterPtr with_filter(WriterPtr writer, std::function<bool(Metadata const&)> passes) {
  return std::make_shared<Filtered>(std::move(writer), std::move(passes));
}
WriterPtr make_writer(std::function<SinkPtr(Metadata const&)> choose) {
  return std::make_shared<Choosing>(std::move(choose));
}

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
}}  // namespace tracing::v1
