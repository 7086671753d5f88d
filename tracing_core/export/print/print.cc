#include "tracing_core/export/print.h"

#include <new>
#include <utility>

#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/print/line_buffer.h"
#include "tracing_core/export/print/short_event.h"
#include "tracing_core/format/duration_text.h"

namespace tracing { inline namespace v1 {
namespace {

// Names the fields of a span's step. Everything else about a step comes from the span's own metadata.
constexpr char kSpanEventText[] = "messagetime.busytime.idle";
constexpr internal::FieldEntry kSpanEventFields[] = {internal::field_entry(0, "message", 7, 0),
                                                     internal::field_entry(7, "time.busy", 9, 1),
                                                     internal::field_entry(16, "time.idle", 9, 2)};
constexpr Metadata kSpanEvent([] {
  internal::MetadataParts parts;
  parts.text = kSpanEventText;
  parts.fields = kSpanEventFields;
  parts.field_count = 3;
  parts.value_count = 3;
  parts.level = Level::info;
  return parts;
}());

// Adds up the time that threads spend in a span, and the rest. Stored in spans only if their end is printed. Changed
// under the span's lock.
class Timings {
 public:
  explicit Timings(Instant made) noexcept : last_(made) {}

  void enter(Instant now) noexcept {
    if (entered_++ == 0) idle_ns_ += since_last(now);
  }
  void exit(Instant now) noexcept {
    if (entered_ > 0 && --entered_ == 0) busy_ns_ += since_last(now);
  }
  std::uint64_t busy_ns() const noexcept { return busy_ns_; }
  std::uint64_t idle_ns(Instant now) noexcept { return idle_ns_ + since_last(now); }

 private:
  std::uint64_t since_last(Instant now) noexcept {
    Instant const last = std::exchange(last_, now);
    // The difference of any two times fits into an unsigned number.
    return now > last ? static_cast<std::uint64_t>(now.ns) - static_cast<std::uint64_t>(last.ns) : 0;
  }

  std::uint64_t entered_ = 0;
  std::uint64_t busy_ns_ = 0;
  std::uint64_t idle_ns_ = 0;
  Instant last_;
};

}  // namespace

PrintLayer::PrintLayer(PrintOptions options)
    : format_(options.event_format != nullptr ? std::move(options.event_format) : make_event_format(options.format)),
      writer_(options.writer != nullptr ? std::move(options.writer) : to_sink(FdSink::duplicate_of(2))),
      line_sink_(dynamic_cast<LineSink*>(writer_->only_sink())),
      span_events_(options.span_events),
      threshold_ns_(options.threshold.count() > 0 ? static_cast<std::uint64_t>(options.threshold.count()) : 0),
      prints_time_(options.format.timer != nullptr),
      keeps_all_values_(options.format.all_values),
      timing_(prints_time_ && has(span_events_, SpanEvents::close)) {}

PrintLayer::~PrintLayer() = default;

Hooks PrintLayer::hooks() const noexcept {
  Hooks hooks = keeps_all_values_ ? Hooks::event | Hooks::all_values : Hooks::event;
  if (timing_ || has(span_events_, SpanEvents::new_span)) hooks = hooks | Hooks::new_span;
  if (timing_ || has(span_events_, SpanEvents::enter)) hooks = hooks | Hooks::enter;
  if (timing_ || has(span_events_, SpanEvents::exit)) hooks = hooks | Hooks::exit;
  if (has(span_events_, SpanEvents::close)) hooks = hooks | Hooks::close;
  return hooks;
}

void PrintLayer::on_event(Event const& event, Context const& context) noexcept {
  if (internal::is_shorter(event, threshold_ns_)) [[unlikely]]
    return;
  SpanRef scope;
  SpanRef shown;
  if (event.parent.kind == Parent::Kind::contextual) [[likely]] {
    scope = shown = context.current_span();
  } else {
    scope = context.event_span(event);
    shown = scope ? scope : context.current_span();
  }
  print({event.metadata(), event.fields, scope, shown, context});
}

void PrintLayer::on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept {
  if (timing_) {
    try {
      span.extensions().get_or_add<Timings>(context.time());
    } catch (std::bad_alloc const&) {  // the span's close has no times
    }
  }
  if (has(span_events_, SpanEvents::new_span)) print_span_event(span, {Value::of_text("new"), {}, {}}, context);
}

void PrintLayer::on_enter(SpanRef span, Context const& context) noexcept {
  if (timing_) {
    SpanLock const lock = span.lock();
    if (auto* const timings = span.extensions().get<Timings>()) timings->enter(context.time());
  }
  if (has(span_events_, SpanEvents::enter)) print_span_event(span, {Value::of_text("enter"), {}, {}}, context);
}

void PrintLayer::on_exit(SpanRef span, Context const& context) noexcept {
  if (timing_) {
    SpanLock const lock = span.lock();
    if (auto* const timings = span.extensions().get<Timings>()) timings->exit(context.time());
  }
  if (has(span_events_, SpanEvents::exit)) print_span_event(span, {Value::of_text("exit"), {}, {}}, context);
}

void PrintLayer::on_close(SpanRef span, Context const& context) noexcept {
  InlineTextBuffer<32> busy;
  InlineTextBuffer<32> idle;
  Value values[3] = {Value::of_text("close"), {}, {}};
  if (auto* const timings = timing_ ? span.extensions().get<Timings>() : nullptr) {
    std::uint64_t const busy_ns = timings->busy_ns(), idle_ns = timings->idle_ns(context.time());
    if (busy_ns + idle_ns < threshold_ns_) return;
    append_duration(busy, busy_ns);
    append_duration(idle, idle_ns);
    values[1] = Value::of_verbatim(busy.view());
    values[2] = Value::of_verbatim(idle.view());
  }
  print_span_event(span, values, context);
}

void PrintLayer::flush() noexcept { writer_->flush(); }

void PrintLayer::print_span_event(SpanRef span, Value const (&values)[3], Context const& context) const noexcept {
  if (context.is_restored()) return;  // the step happened earlier
  print({span.metadata(), FieldValues(kSpanEvent, values), span, span, context});
}

void PrintLayer::print(EventView const& event) const noexcept {
  if (event.context.is_restored()) [[unlikely]]
    return;
  Level const level = event.metadata.level();
  if (line_sink_ != nullptr ? !line_sink_->takes(level) : !writer_->wants(event.metadata)) return;
  internal::LineBuffer line;
  if (!line || !format_->append(*line, event) || line->empty()) [[unlikely]]
    return;
  if (line_sink_ != nullptr) [[likely]]
    return line_sink_->write(level, line->view());
  writer_->write({event.metadata, line->view(), prints_time_ ? event.context.time() : Instant{}});
}

std::unique_ptr<PrintLayer> print_layer(PrintOptions options) {
  return std::make_unique<PrintLayer>(std::move(options));
}

}}  // namespace tracing::v1
