// LiveOutput: what is shown while tests run, and how its lines look.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "testlog/capture/attribution.h"
#include "testlog/environment.h"
#include "testlog/outputs/equal_lines.h"
#include "testlog/outputs/show_filter.h"
#include "testlog/settings.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/export/print.h"

namespace testlog { inline namespace v1 {

/// Prints records to `output` if TRACE_SHOW is live. If TRACE_SHOW is failed or all, prints nothing, and its filter
/// only marks the records that TRACE_FILTER selects. Must outlive the layer. Tests begin and end on one thread.
class LiveOutput {
 public:
  LiveOutput(Environment const& environment, Output& output, Attribution& attribution, std::string_view color,
             bool mute);
  LiveOutput(LiveOutput const&) = delete;
  LiveOutput& operator=(LiveOutput const&) = delete;

  /// Make the layer and its filter. The layer must be the second of its registry, kLayer, after the layer of Capture.
  /// Both are null if the process is mute, so that they do not enable any callsite.
  std::unique_ptr<tracing::Layer> make_layer();
  std::unique_ptr<tracing::Filter> take_filter() noexcept { return mute_ ? nullptr : std::move(owned_filter_); }
  static constexpr tracing::LayerMask kLayer = 2;

  ShowFilter& filter() const noexcept { return *filter_; }
  /// Changes the directives until the running test ends. Reports a wrong directive and returns false; the others take
  /// effect.
  bool set_filter(std::string_view directives);
  /// Returns true if the directives differ from the directives outside tests.
  bool has_filter_of_test() const { return filter_->directives() != outside_tests_; }

  void begin_test(Settings const& settings);
  void end_test();
  /// Returns true if a line was printed since begin_test(). Thread-safe.
  bool has_printed() const noexcept { return has_printed_.load(std::memory_order_relaxed); }

  /// Returns options with which `writer` prints lines, each with a label if its record does not belong to the running
  /// test.
  tracing::PrintOptions print_options(tracing::WriterPtr writer) const {
    return print_options(std::move(writer), format_);
  }
  /// As print_options(), for one report: only JSON has the time, and `prefix` prints spans, unless it is null.
  tracing::PrintOptions report_options(tracing::WriterPtr writer, std::shared_ptr<tracing::SpanPrefix> prefix) const {
    bool const has_time = tracing::formatting::is_json(environment_.format);
    return print_options(std::move(writer), make_format({.has_time = has_time, .prefix = std::move(prefix)}));
  }
  /// Returns null if all equal lines are printed.
  EqualLines* equal_lines() noexcept { return equal_lines_ ? &*equal_lines_ : nullptr; }
  /// Called when other output follows, such as a failure: ends equal lines, and the next line has all its fields.
  void finish_lines() noexcept;
  /// Returns true if lines have colours.
  bool is_coloured() const noexcept { return is_coloured_; }

 private:
  using Format = std::shared_ptr<tracing::EventFormat const>;
  struct FormatParts {
    bool has_time = true;
    EqualLines* equal_lines = nullptr;
    std::shared_ptr<tracing::SpanPrefix> prefix{};
    bool leaves_out_repeated = false;
  };
  Format make_format(FormatParts parts) const;
  tracing::PrintOptions print_options(tracing::WriterPtr writer, Format format) const;

  Environment const& environment_;
  Output& output_;
  Attribution& attribution_;
  bool const mute_;
  std::shared_ptr<tracing::Timer const> timer_;
  bool const is_coloured_;
  Format const format_;
  std::optional<EqualLines> equal_lines_;
  Format live_format_;
  std::unique_ptr<ShowFilter> owned_filter_;  // until the registry takes it
  ShowFilter* const filter_;
  std::string outside_tests_;  // the directives outside tests
  std::atomic<bool> has_printed_{false};
};

}}  // namespace testlog::v1
