// PrintLayer: a layer that prints events, and on demand the steps of spans, as text.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/writer.h"
#include "tracing_core/format/event_format.h"

namespace tracing { inline namespace v1 {

class LineSink;

/// Selects the steps of a span to print, as events of the span's level and target.
enum class SpanEvents : std::uint8_t {
  none = 0,
  new_span = 1,
  enter = 2,
  exit = 4,
  close = 8,  ///< with the time that threads spent in it, `time.busy`, and the rest, `time.idle`
  active = enter | exit,
  full = new_span | enter | exit | close,
};
constexpr SpanEvents operator|(SpanEvents a, SpanEvents b) noexcept {
  return static_cast<SpanEvents>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(SpanEvents set, SpanEvents one) noexcept {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// Options of print_layer().
struct PrintOptions {
  FormatOptions format{};
  std::shared_ptr<EventFormat const> event_format{};  ///< replaces the format that `format` selects, unless null
  SpanEvents span_events = SpanEvents::none;
  /// Shorter durations are not printed: neither the end of a span that was open for less time, if its line shows the
  /// duration, nor a perf event with a shorter `duration_us`. Perf spans have a threshold in PerfOptions.
  std::chrono::nanoseconds threshold{0};
  WriterPtr writer{};  ///< null: a duplicate of stderr, made by the constructor
};

/// Prints events, and on demand the steps of spans, as text. Makes each line in a buffer that its thread keeps, and
/// passes it to the writer in one piece. Allocates nothing per line. Reads the clock only if the time is printed.
class PrintLayer final : public Layer {
 public:
  explicit PrintLayer(PrintOptions options = {});
  ~PrintLayer() override;

  Hooks hooks() const noexcept override;
  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override;
  void on_event(Event const& event, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;
  void flush() noexcept override;

 private:
  void print(EventView const& event) const noexcept;
  void print_span_event(SpanRef span, Value const (&values)[3], Context const& context) const noexcept;

  std::shared_ptr<EventFormat const> const format_;
  WriterPtr const writer_;
  LineSink* const line_sink_;  // the only sink if it is a LineSink; otherwise null
  SpanEvents const span_events_;
  std::uint64_t const threshold_ns_;
  bool const prints_time_;
  bool const keeps_all_values_;
  bool const timing_;
};

/// Makes a PrintLayer: RegistryBuilder().with(print_layer({.format = {.kind = FormatKind::json}})).
std::unique_ptr<PrintLayer> print_layer(PrintOptions options = {});

}}  // namespace tracing::v1
