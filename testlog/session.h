// Session: the state of testlog in a process, from its settings to the registry that receives the records.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "testlog/attribution.h"
#include "testlog/capture.h"
#include "testlog/environment.h"
#include "testlog/fail_on.h"
#include "testlog/internal/process.h"
#include "testlog/live_output.h"
#include "testlog/profiles.h"
#include "testlog/recording_file.h"
#include "testlog/run_records.h"
#include "testlog/settings.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/file_outputs.h"
#include "tracing_core/environment/perf_outputs.h"

namespace testlog::inline v1 {

using tracing::internal::FileOutputs;
using tracing::internal::PerfOutputs;

/// Made once, before main() and most static initialisers, and never destroyed. Owns the parts and connects them to a
/// registry.
class Session {
 public:
  /// Makes the session of this process and its registry the global default, unless tests are only listed. REQUIRES: not
  /// called before.
  static void start(internal::ProcessRole const& role);
  /// Null before start(), and if tests are only listed.
  static Session* get() noexcept;

  Environment const& environment() const noexcept { return environment_; }
  Output& output() noexcept { return output_; }
  Attribution& attribution() noexcept { return attribution_; }
  Capture& capture() noexcept { return *capture_; }
  /// Null unless there is a file, or one will be made of the recording.
  RunRecords* run_records() noexcept { return run_records_.get(); }
  RecordingFile& recording_file() noexcept { return recording_file_; }
  LiveOutput& live() noexcept { return *live_; }
  FailOn& fail_on() noexcept { return fail_on_; }
  /// Null if neither a Chrome trace nor folded stacks are written.
  FileOutputs const* files() const noexcept { return files_.get(); }
  PerfOutputs& perf() noexcept { return *perf_; }
  tracing::Registry& registry() const noexcept { return *registry_; }

  /// Whether nothing is printed in this process: TRACE_SHOW is none, or it is the child of a threadsafe death test.
  bool is_mute() const noexcept { return mute_; }

  /// True on the first call only: a program and one of its libraries may both contain testlog and try to install its
  /// listeners.
  bool take_listeners() noexcept { return !listeners_taken_.exchange(true); }

  /// `name` must live as long as the program.
  void begin_test(std::string const& name, Settings const& settings);
  void end_test();

 private:
  explicit Session(internal::ProcessRole const& role);
  void make_registry();
  std::unique_ptr<tracing::Filter> file_filter() const;

  Environment environment_;
  bool mute_ = false;
  std::atomic<bool> listeners_taken_{false};
  Output output_{"outside_tests"};
  Attribution& attribution_;
  FailOn fail_on_;
  RecordingFile recording_file_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<RunRecords> run_records_;
  std::unique_ptr<LiveOutput> live_;
  std::unique_ptr<FileOutputs> files_;
  std::unique_ptr<Profiles> profiles_;
  std::unique_ptr<PerfOutputs> perf_;
  std::shared_ptr<tracing::Registry> registry_;
};

}  // namespace testlog::inline v1
