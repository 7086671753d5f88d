// Session: the state of testlog in a process, from its settings to the registry that receives the records.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "testlog/capture/death_tests.h"
#include "testlog/capture/recording_file.h"
#include "testlog/capture/run_records.h"
#include "testlog/capture/test_records.h"
#include "testlog/environment.h"
#include "testlog/framework.h"
#include "testlog/outputs/live_output.h"
#include "testlog/outputs/profiles.h"
#include "testlog/report/fail_on.h"
#include "testlog/report/report_parts.h"
#include "testlog/settings.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/file_outputs.h"
#include "tracing_core/environment/perf_outputs.h"

namespace testlog { inline namespace v1 {

using tracing::environment::FileOutputs;
using tracing::environment::PerfOutputs;

/// Made once, before main() and most static initialisers, and never destroyed. Owns the parts and connects them to a
/// registry.
class Session {
 public:
  /// Makes the session of this process, and makes its registry the global default. Does nothing on a second call.
  static void start(framework::Process const& role);
  /// Returns null before start(), and if tests are only listed.
  static Session* get() noexcept;

  Environment const& environment() const noexcept { return environment_; }
  Output& output() noexcept { return output_; }
  Attribution& attribution() noexcept { return attribution_; }
  Capture& capture() noexcept { return *capture_; }
  TestRecords& test_records() noexcept { return *test_records_; }
  /// Returns null unless the recording is in a file, or a file will be made of it.
  RunRecords* run_records() noexcept { return run_records_.get(); }
  RecordingFile& recording_file() noexcept { return recording_file_; }
  DeathTests& death_tests() noexcept { return death_tests_; }
  LiveOutput& live() noexcept { return *live_; }
  FailOn& fail_on() noexcept { return *fail_on_; }
  PerfOutputs& perf() noexcept { return *perf_; }
  tracing::Registry& registry() const noexcept { return *registry_; }
  ReportParts const& report_parts() const noexcept { return *report_parts_; }

  /// Returns true if nothing is printed in this process, because TRACE_SHOW is none or because it is the child of a
  /// threadsafe death test.
  bool is_mute() const noexcept { return mute_; }

  /// Returns true on the first call only: a program and a library that it loads may both contain testlog and try to
  /// install its listeners.
  bool take_listeners() noexcept { return !listeners_taken_.exchange(true); }

  /// `name` must live as long as the program.
  void begin_test(std::string const& name, Settings const& settings);
  void end_test();

 private:
  explicit Session(framework::Process const& role);
  void make_capture(framework::Process const& role, bool has_profiles);
  void prepare_for_death_tests(framework::Process const& role);
  void make_files();
  void make_perf(framework::Process const& role);
  void make_registry(std::unique_ptr<tracing::Layer> nvtx_layer);
  void set_span_source();
  std::unique_ptr<tracing::Filter> file_filter() const;

  Environment environment_;
  bool mute_ = false;
  std::atomic<bool> listeners_taken_{false};
  Output output_{"outside_tests"};
  Attribution& attribution_;
  std::string run_;  // the id of the run; empty if nothing is recorded
  RecordingFile recording_file_;
  DeathTests death_tests_;
  std::unique_ptr<Capture> capture_;
  std::optional<TestRecords> test_records_;
  std::unique_ptr<RunRecords> run_records_;
  std::unique_ptr<LiveOutput> live_;
  std::unique_ptr<FailOn> fail_on_;
  std::unique_ptr<FileOutputs> files_;
  std::unique_ptr<Profiles> profiles_;
  std::unique_ptr<PerfOutputs> perf_;
  std::shared_ptr<tracing::Registry> registry_;
  std::optional<ReportParts> report_parts_;
};

}}  // namespace testlog::v1
