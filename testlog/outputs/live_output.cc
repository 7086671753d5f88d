#include "testlog/outputs/live_output.h"

#include <strings.h>

#include <chrono>
#include <utility>
#include <vector>

#include "testlog/framework.h"
#include "testlog/outputs/labels.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/format/repeated_fields.h"

namespace testlog { inline namespace v1 {
namespace {

// Reads what the framework was asked for as GoogleTest reads --gtest_color.
tracing::ColorChoice choice_of(std::string const& color) {
  auto const is = [&](char const* word) { return strcasecmp(color.c_str(), word) == 0; };
  if (is("yes") || is("true") || is("t") || is("1")) return tracing::ColorChoice::always;
  return is("") || is("auto") ? tracing::ColorChoice::automatic : tracing::ColorChoice::never;
}

// Prints nothing: its filter marks the records that TRACE_FILTER selects.
class MarkingLayer final : public tracing::Layer {
 public:
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::none; }
};

}  // namespace

LiveOutput::LiveOutput(Environment const& environment, Output& output, Attribution& attribution, std::string_view color,
                       bool mute)
    : environment_(environment),
      output_(output),
      attribution_(attribution),
      mute_(mute),
      timer_(tracing::environment::timer_of(environment.time)),
      is_coloured_(tracing::environment::use_color(environment, output.is_terminal(), choice_of(std::string(color)))),
      format_(make_format({})),
      live_format_(format_),
      owned_filter_(std::make_unique<ShowFilter>(environment.filter, nullptr)),
      filter_(owned_filter_.get()),
      outside_tests_(filter_->directives()) {
  // Files and JSON, which is for programs, have everything.
  bool const is_for_people = !tracing::formatting::is_json(environment.format) && !output.is_file();
  if (mute || environment.show != Show::live || !is_for_people) return;
  if (environment.equal_lines > 0)
    equal_lines_.emplace(output, environment.equal_lines, tracing::formatting::record_end(environment.format));
  live_format_ = make_format({.equal_lines = equal_lines(),
                              .leaves_out_repeated = environment.span_fields == SpanFields::shortened &&
                                                     environment.format == tracing::FormatKind::full});
}

LiveOutput::Format LiveOutput::make_format(FormatParts parts) const {
  tracing::FormatOptions options;
  options.kind = environment_.format;
  options.ansi = is_coloured_;
  options.value_sanitization = true;
  options.shorten_span_values = true;
  options.timer = !parts.has_time ? nullptr : parts.equal_lines == nullptr ? timer_ : EqualLines::observed(timer_);
  options.prefix = parts.prefix;
  if (parts.leaves_out_repeated) options.repeated = std::make_shared<tracing::RepeatedFields const>(is_coloured_);
  return std::make_shared<LabelledFormat>(
      tracing::make_event_format(options), attribution_, tracing::formatting::is_json(options.kind),
      environment_.threads,
      LabelledFormat::Shortening{parts.equal_lines, std::move(parts.prefix), options.repeated, &output_});
}

std::unique_ptr<tracing::Layer> LiveOutput::make_layer() {
  if (mute_) return nullptr;
  if (environment_.show != Show::live) return std::make_unique<MarkingLayer>();
  auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) {
    if (output_.is_in_forked_child() && framework::current().is_death_test_child()) return;
    if (!has_printed()) has_printed_.store(true, std::memory_order_relaxed);
    output_.write(line);
  });
  return tracing::print_layer(print_options(tracing::to_sink(std::move(sink)), live_format_));
}

tracing::PrintOptions LiveOutput::print_options(tracing::WriterPtr writer, Format format) const {
  return {.format = {.timer = timer_},
          .event_format = std::move(format),
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
  has_printed_.store(false, std::memory_order_relaxed);
  if (!settings.default_filter.empty() && !environment_.filter_is_set) set_filter(settings.default_filter);
}

void LiveOutput::finish_lines() noexcept {
  if (equal_lines_) equal_lines_->finish();
  output_.count_write();
}

void LiveOutput::end_test() {
  finish_lines();
  if (filter_->set(outside_tests_, nullptr)) tracing::rebuild_interest();
}

}}  // namespace testlog::v1
