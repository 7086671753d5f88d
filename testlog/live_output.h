// LiveOutput: what is shown while tests run, and how its lines look.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "testlog/settings.h"
#include "testlog/show_filter.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/export/print.h"

namespace testlog::inline v1 {

/// Prints records to `output` if TRACE_SHOW is live. If it is failed or all, only its filter matters, which marks the
/// records that TRACE_FILTER selects. Must outlive the layer. Tests begin and end on one thread.
class LiveOutput {
 public:
  LiveOutput(Environment const& environment, Output& output, Attribution& attribution, std::string_view gtest_color,
             bool mute);
  LiveOutput(LiveOutput const&) = delete;
  LiveOutput& operator=(LiveOutput const&) = delete;

  /// The layer, which must be the second of its registry, kLayer, after that of Capture, and its filter. Both are null if
  /// the process is muted, so that this does not enable any callsite.
  std::unique_ptr<tracing::Layer> make_layer();
  std::unique_ptr<tracing::Filter> take_filter() noexcept { return mute_ ? nullptr : std::move(owned_filter_); }
  static constexpr tracing::LayerMask kLayer = 2;

  ShowFilter& filter() const noexcept { return *filter_; }
  /// Changes the directives until the running test ends. False, and a report, if one is wrong; the others take effect.
  bool set_filter(std::string_view directives);
  /// Whether the directives differ from those outside tests.
  bool has_filter_of_test() const { return filter_->directives() != outside_tests_; }

  void begin_test(Settings const& settings);
  void end_test();

  /// The look of lines, each with a label if its record does not belong to the running test, for printing by `writer`.
  tracing::PrintOptions print_options(tracing::WriterPtr writer) const { return print_options(std::move(writer), format_); }
  /// The same without the time, but in JSON.
  tracing::PrintOptions report_options(tracing::WriterPtr writer) const { return print_options(std::move(writer), report_format_); }
  /// Whether lines have colours.
  bool is_coloured() const noexcept { return is_coloured_; }

 private:
  using Format = std::shared_ptr<tracing::EventFormat const>;
  Format make_format(Attribution& attribution, bool has_time) const;
  tracing::PrintOptions print_options(tracing::WriterPtr writer, Format format) const;

  Environment const& environment_;
  Output& output_;
  bool const mute_;
  std::shared_ptr<tracing::Timer const> timer_;
  bool const is_coloured_;
  Format const format_, report_format_;
  std::unique_ptr<ShowFilter> owned_filter_;  // until the registry has it, if it takes it
  ShowFilter* const filter_;
  std::string outside_tests_;  // the directives
};

}  // namespace testlog::inline v1
