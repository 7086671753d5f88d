#include "tracing_core/export/chrome.h"

#include <atomic>

#include "tracing_core/export/chrome_output.h"
#include "tracing_core/export/chrome_record.h"
#include "tracing_core/export/line_buffer.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1 {
namespace {

using internal::ChromeOutput;

// Which line of the trace a span stands on in the style async: that of its root. Kept with the span.
struct AsyncId {
  explicit AsyncId(std::uint64_t id) noexcept : value(id) {}
  std::uint64_t const value;
};

class ChromeLayer final : public Layer {
 public:
  ChromeLayer(ChromeOptions const& options, std::shared_ptr<ChromeOutput> output)
      : output_(std::move(output)), records_(options), style_(options.style), start_(Instant::now()) {}

  Hooks hooks() const noexcept override {
    return Hooks::event | (style_ == ChromeStyle::threaded ? Hooks::enter | Hooks::exit : Hooks::new_span | Hooks::close);
  }
  void on_enter(SpanRef span, Context const& context) noexcept override { write_span('B', 0, span, context); }
  void on_exit(SpanRef span, Context const& context) noexcept override { write_span('E', 0, span, context); }

  void on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept override {
    std::uint64_t const id = id_of_new(span);
    write_span('b', id, span, context);
  }
  void on_close(SpanRef span, Context const& context) noexcept override {
    if (AsyncId const* const id = span.extensions().get<AsyncId>()) write_span('e', id->value, span, context);
  }

  void on_event(Event const& event, Context const& context) noexcept override {
    write(context, [&](TextBuffer& out, internal::ChromePlace const& place) { records_.append_event(out, event, place); });
  }
  void flush() noexcept override { output_->flush(); }

 private:
  std::uint64_t id_of_new(SpanRef span) noexcept {
    std::uint64_t id = 0;
    if (SpanRef const parent = span.parent()) {
      SpanLock const lock = parent.lock();
      if (AsyncId const* const above = parent.extensions().get<AsyncId>()) id = above->value;
    }
    if (id == 0) id = last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
    return span.extensions().get_or_add<AsyncId>(id).value;
  }

  void write_span(char phase, std::uint64_t id, SpanRef span, Context const& context) const noexcept {
    write(context, [&](TextBuffer& out, internal::ChromePlace const& place) { records_.append_span(out, phase, id, span, place); });
  }

  // Adds what `append(out, place)` makes, and the name of the thread before it where the trace does not have that yet.
  template <class F>
  void write(Context const& context, F append) const noexcept {
    if (context.is_restored() || !output_->is_open()) return;
    Track const& track = context.track();
    ChromeOutput::Thread const thread = output_->thread(track);
    internal::ChromePlace const place{output_->pid(), thread.tid, context.time().ns - start_.ns};
    internal::LineBuffer line;
    if (!line) [[unlikely]] return output_->count_dropped(1);
    if (thread.is_new) records_.append_thread_name(*line, place, track.name);
    append(*line, place);
    if (line->truncated()) [[unlikely]] return output_->count_dropped(1);
    output_->add(line->view(), 1, track.number == internal::this_thread_info().number ? context.time() : Instant());
  }

  std::shared_ptr<ChromeOutput> const output_;
  internal::ChromeRecords const records_;
  ChromeStyle const style_;
  Instant const start_;
  std::atomic<std::uint64_t> last_id_{0};
};

// The file that a trace goes to; none, and why, where it cannot be made.
ChromeOutput::Destination open_file(std::string path, int complain_to, std::error_code& error) {
  if (path.empty()) path = internal::default_trace_path();
  ChromeOutput::Destination destination{internal::TraceFile::create(path, complain_to, error), nullptr};
  if (error) internal::tell_trace_failure(complain_to, path, error.value());
  return destination;
}

}  // namespace

std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options) {
  std::error_code error;
  ChromeOutput::Destination destination;
  if (options.started) {
    destination.sink = options.sink;
    if (options.sink == nullptr) destination = open_file(options.path, options.complain_to, error);
  }
  auto output = ChromeOutput::make(std::move(destination),
                                   {.write_through = options.write_through,
                                    .as_tracing_chrome = options.as_tracing_chrome,
                                    .complain_to = options.complain_to},
                                   error);
  auto layer = std::make_unique<ChromeLayer>(options, output);
  return {std::move(layer), ChromeGuard(std::move(output))};
}

ChromeGuard::ChromeGuard(std::shared_ptr<ChromeOutput> output) noexcept : output_(std::move(output)) {}

ChromeGuard& ChromeGuard::operator=(ChromeGuard&& other) noexcept {
  if (this != &other) {
    close();
    output_ = std::move(other.output_);
  }
  return *this;
}

ChromeGuard::~ChromeGuard() { close(); }

void ChromeGuard::close() noexcept {
  if (output_ != nullptr) output_->finish();
  output_ = nullptr;
}

void ChromeGuard::flush() const noexcept {
  if (output_ != nullptr) output_->flush();
}

std::error_code ChromeGuard::start_new(std::string path) const noexcept {
  if (output_ == nullptr) return {};
  if (output_->is_in_forked_child()) return std::make_error_code(std::errc::operation_not_permitted);
  std::error_code error;
  try {
    ChromeOutput::Destination destination = open_file(std::move(path), output_->complain_to(), error);
    if (!error) output_->start_new(std::move(destination));
  } catch (...) {
    error = std::make_error_code(std::errc::not_enough_memory);
  }
  return error;
}

void ChromeGuard::start_new(std::shared_ptr<LineSink> sink) const noexcept {
  if (output_ != nullptr) output_->start_new({nullptr, std::move(sink)});
}

void ChromeGuard::stop() const noexcept {
  if (output_ != nullptr) output_->close();
}

std::error_code ChromeGuard::error() const noexcept { return output_ != nullptr ? output_->error() : std::error_code(); }

std::string ChromeGuard::path() const { return output_ != nullptr ? output_->path() : std::string(); }

bool ChromeGuard::is_behind() const noexcept { return output_ != nullptr && !output_->is_in_forked_child() && output_->is_behind(); }

std::uint64_t ChromeGuard::dropped() const noexcept { return output_ != nullptr ? output_->dropped() : 0; }

}  // namespace tracing::inline v1
