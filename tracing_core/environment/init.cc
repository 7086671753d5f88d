#include "tracing_core/environment/init.h"

#include <errno.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/environment/file_outputs.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/environment/perf_outputs.h"
#include "tracing_core/environment/profile_outputs.h"
#include "tracing_core/environment/record_output.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/environment/unmatched.h"
#include "tracing_core/environment/variables.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"

namespace tracing { inline namespace v1 {
namespace environment {

// Everything that init_from_env() makes. Never destroyed, since records may come until the process ends.
class EnvSession {
 public:
  explicit EnvSession(EnvOptions defaults) : options_(std::move(defaults)), output_(program_invocation_short_name) {
    std::string reports;
    check_directives(options_.filter, "init_from_env(), filter", reports);
    read_variables({common_variables()}, environment_variable, options_, reports);
    report_misspelt_variables({common_variables()}, environ, reports);
    report_ignored_variables({common_variables()}, environ, reports);
    if (!options_.redact.empty()) redact(options_.redact, options_.redact_token);
    output_.open(options_.output, formatting::is_json(options_.format), true);
    if (!reports.empty()) output_.write_note("report", reports);
    std::unique_ptr<internal::Region> region = open_recording(options_, output_).region;
    records_to_file_ = region != nullptr;
    if (ProfileOutputs::are_wanted(options_)) {
      profiles_ = std::make_unique<ProfileOutputs>(options_, output_);
      if (region == nullptr) region = internal::Region::make_anonymous(options_.record_limit);
    }
    if (region != nullptr) recording_ = std::make_shared<internal::RecordStore>(std::move(region));
    if (!options_.chrome.empty() || !options_.flame.empty()) files_ = std::make_unique<FileOutputs>(options_, output_);
    PerfOutputs::Use use{.files = true, .tests = false};
    if (options_.threads != ThreadLabels::off) {
      use.append_members = [](TextBuffer& line, SpanRef, Track const& track) {
        if (JsonMembers members(line); members.is_open()) members.add_thread(track);
      };
    }
    perf_ = std::make_unique<PerfOutputs>(options_.perf, output_, std::move(use));
  }

  std::shared_ptr<Registry> make_registry(RegistryBuilder builder) {
    auto filter = std::make_unique<EnvFilter>(filter_of(options_.filter));
    filter_ = filter.get();
    if (recording_ != nullptr) builder.with(std::make_unique<internal::RecordLayer>(recording_));
    builder.with(make_print_layer(), std::move(filter));
    if (files_ != nullptr) {
      for (auto& layer : files_->take_layers()) builder.with(std::move(layer));
    }
    for (auto& [layer, filter_of_perf, statistics] : perf_->take_layers())
      builder.with(std::move(layer), std::move(filter_of_perf));
    auto registry = std::move(builder).build();
    if (records_to_file_) write_process_mark(*recording_, options_.traceparent, options_.tracestate);
    set_span_source({.store = records_to_file_ ? recording_.get() : nullptr,
                     .registry = registry.get(),
                     .traceparent = options_.traceparent,
                     .tracestate = options_.tracestate});
    return registry;
  }

  void flush() noexcept {
    if (files_ != nullptr) files_->flush();
  }

  void finish() {
    if (finished_.exchange(true) || output_.is_in_forked_child()) return;
    if (options_.filter_is_set) report_unmatched(output_, Unmatched::near, "TRACE_FILTER", *filter_);
    if (options_.filter_help) print_filter_help(output_);
    perf_->report_if_none_was_measured(true);
    perf_->print_run();
    perf_->finish();
    if (files_ != nullptr) files_->finish();
    if (profiles_ != nullptr && recording_ != nullptr) write_profiles();
    output_.report_missing();
  }

 private:
  void write_profiles() {
    auto const recording = tracing::recording::read_region(recording_->region());
    if (recording == nullptr) return;
    auto const source = [&recording] {
      recording::TraceSource made(*recording);
      made.process = program_invocation_short_name;
      return made;
    };
    for (bool const of_tests : {false, true})
      profiles_->write(of_tests, source, program_invocation_short_name, recording->start());
  }

  std::unique_ptr<Layer> make_print_layer() {
    FormatOptions format;
    format.kind = options_.format;
    format.ansi = use_color(options_, output_.is_terminal());
    format.value_sanitization = true;
    format.timer = timer_of(options_.time);
    auto sink = make_sink([this](Level, std::string_view line) { output_.write(line); });
    return print_layer({.format = format,
                        .event_format = std::make_shared<ThreadLabelFormat>(
                            make_event_format(format), formatting::is_json(format.kind), options_.threads),
                        .span_events = options_.span_events,
                        .threshold = std::chrono::microseconds(options_.perf.threshold_us),
                        .writer = to_sink(std::move(sink))});
  }

  EnvOptions options_;
  Output output_;
  std::shared_ptr<internal::RecordStore> recording_;  // null without TRACE_RECORD and profiles
  bool records_to_file_ = false;
  std::unique_ptr<ProfileOutputs> profiles_;  // null if no variable asks for them
  std::unique_ptr<FileOutputs> files_;        // null if no variable asks for them
  std::unique_ptr<PerfOutputs> perf_;
  EnvFilter const* filter_ = nullptr;  // lives in the registry, which is never destroyed
  std::atomic<bool> finished_{false};
};

}  // namespace environment

EnvGuard& EnvGuard::operator=(EnvGuard&& other) noexcept {
  if (this == &other) return *this;
  finish();
  session_ = std::exchange(other.session_, nullptr);
  return *this;
}

void EnvGuard::flush() const noexcept {
  if (session_ != nullptr) session_->flush();
}

void EnvGuard::finish() noexcept {
  if (session_ == nullptr) return;
  try {
    session_->finish();
  } catch (...) {  // out of memory
  }
}

EnvGuard init_from_env(EnvOptions defaults, RegistryBuilder builder) {
  static environment::EnvSession* session = nullptr;
  if (current_subscriber() != nullptr) {
    internal::write_once(STDERR_FILENO,
                         "testlog: init_from_env(): there is a subscriber already, such as that of a test program; "
                         "nothing was changed\n");
    return {};
  }
  session = new environment::EnvSession(std::move(defaults));
  set_global_default(session->make_registry(std::move(builder)));
  std::atexit([] { (void)EnvGuard(session); });
  return EnvGuard(session);
}

}}  // namespace tracing::v1
