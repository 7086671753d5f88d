#include "testlog/live_output.h"

#include <strings.h>

#include <chrono>
#include <utility>
#include <vector>

#include "testlog/labels.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/line_sink.h"

namespace testlog::inline v1 {
namespace {

std::shared_ptr<tracing::Timer const> timer_of(TimeStyle style) {
  switch (style) {
    case TimeStyle::utc: return tracing::utc_timer();
    case TimeStyle::local: return tracing::local_timer();
    case TimeStyle::uptime: return tracing::uptime_timer(tracing::Instant::now());
    case TimeStyle::none: break;
  }
  return nullptr;
}

// The first of these decides: TRACE_COLOR, NO_COLOR, CLICOLOR_FORCE, --gtest_color as GoogleTest reads it, the
// terminal.
bool use_color(Environment const& environment, std::string const& gtest_color, bool is_terminal) {
  if (environment.color != tracing::ColorChoice::automatic) return environment.color == tracing::ColorChoice::always;
  if (environment.no_color) return false;
  if (environment.force_color) return true;
  auto const is = [&](char const* word) { return strcasecmp(gtest_color.c_str(), word) == 0; };
  if (is("yes") || is("true") || is("t") || is("1")) return true;
  return (is("") || is("auto")) && is_terminal;
}

// Prints nothing: its filter marks the records that TRACE_FILTER selects.
class MarkingLayer final : public tracing::Layer {
 public:
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::none; }
};

}  // namespace

LiveOutput::LiveOutput(Environment const& environment, Output& output, Attribution& attribution,
                       std::string_view gtest_color, bool mute)
    : environment_(environment),
      output_(output),
      mute_(mute),
      timer_(timer_of(environment.time)),
      owned_filter_(std::make_unique<ShowFilter>(environment.filter.value_or(environment.default_filter), nullptr)),
      filter_(owned_filter_.get()),
      outside_tests_(filter_->directives()) {
  tracing::FormatOptions options;
  options.kind = environment.format;
  options.ansi = use_color(environment, std::string(gtest_color), output.is_terminal());
  options.value_sanitization = true;
  options.timer = timer_;
  format_ = std::make_shared<LabelledFormat>(tracing::make_event_format(options), attribution,
                                             options.kind == tracing::FormatKind::json, environment.threads);
}

std::unique_ptr<tracing::Layer> LiveOutput::make_layer() {
  if (mute_) return nullptr;
  if (environment_.show != Show::live) return std::make_unique<MarkingLayer>();
  auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) { output_.write(line); });
  return tracing::print_layer(print_options(tracing::to_sink(std::move(sink))));
}

tracing::PrintOptions LiveOutput::print_options(tracing::WriterPtr writer) const {
  return {.format = {.timer = timer_},
          .event_format = format_,
          .span_events = environment_.span_events,
          .threshold = std::chrono::microseconds(environment_.perf.threshold_us),
          .writer = std::move(writer)};
}

bool LiveOutput::set_filter(std::string_view directives) {
  std::vector<tracing::ParseError> errors;
  if (filter_->set(directives, &errors)) tracing::rebuild_interest();
  for (auto const& error : errors) {
    if (mute_) continue;
    output_.write_note("report", "testlog: " + tracing::render(error, directives, "the test's filter") + "\n");
  }
  return errors.empty();
}

void LiveOutput::begin_test(Settings const& settings) {
  outside_tests_ = filter_->directives();
  if (!settings.default_filter.empty() && !environment_.filter) set_filter(settings.default_filter);
}

void LiveOutput::end_test() {
  if (filter_->set(outside_tests_, nullptr)) tracing::rebuild_interest();
}

}  // namespace testlog::inline v1
