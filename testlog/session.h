// Declares Session, what testlog keeps for a process: its settings, its output, the ring of records, what is shown.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "testlog/file_outputs.h"
#include "testlog/internal/process.h"
#include "testlog/output.h"
#include "testlog/perf_outputs.h"
#include "testlog/settings.h"
#include "testlog/show_filter.h"
#include "testlog/untold.h"
#include "tracing_core/collect/record_ring.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"

namespace testlog::inline v1 {

/// Made once, before main() and before most static initialisers, and never destroyed. Not made while tests are listed.
class Session {
 public:
  /// Makes the session of this process and becomes its subscriber. REQUIRES: not called before.
  static void start(internal::ProcessRole const& role);
  /// Null before start(), and while tests are listed.
  static Session* get() noexcept;

  Environment const& environment() const noexcept { return environment_; }
  Output& output() noexcept { return output_; }
  Attribution& attribution() noexcept { return attribution_; }
  tracing::Registry& registry() const noexcept { return *registry_; }
  /// Null where nothing is captured.
  tracing::RecordRing* ring() const noexcept { return ring_.get(); }
  /// What TRACE_CAPTURE says; null where everything is captured, or nothing.
  tracing::EnvFilter const* capture_filter() const noexcept { return captured_; }
  /// Null where perf spans are off.
  PerfOutputs* perf() const noexcept { return perf_.get(); }
  ShowFilter* show_filter() const noexcept { return show_filter_; }
  /// Null where no file was asked for.
  FileOutputs const* files() const noexcept { return files_.get(); }

  /// Whether records are shown nowhere in this process: TRACE_SHOW is none, or it is the child of a threadsafe death test.
  bool is_mute() const noexcept { return mute_; }
  /// Whether anything is done with records.
  bool listens() const noexcept { return !mute_ || ring_ != nullptr || files_ != nullptr; }
  /// Whether the layer that shows saw the record: it was printed, where TRACE_SHOW is live.
  static constexpr bool was_selected(tracing::Verdict verdict) noexcept { return (verdict & kShowVerdict) != 0; }

  /// Whether somebody tells, or could tell, what is captured from now on: from before the environments are set up until after
  /// they are torn down.
  void set_telling(bool tells) noexcept { tells_ = tells; }

  /// True the first time: a program and a library of it may each hold a testlog that installs its listeners.
  bool take_listeners() noexcept { return !listeners_taken_.exchange(true); }

  /// Says what was wrong with the variables, once, also where nothing else is shown.
  void report_bad_values();

  /// The directives that decide what is shown, until the running test ends. False, and a report, where one is wrong.
  bool set_filter(std::string_view directives);

  /// Whether the running test has a filter that is not the one outside of it.
  bool has_filter_of_test() const { return show_filter_->directives() != filter_outside_; }

  /// A test begins: `name` is kept by reference for good; null settings are none.
  void begin_test(std::string const& name, Settings const* settings);
  /// It ends: the filter is again what it was.
  void end_test();
  /// The number of the first record that the running test may have made.
  std::uint64_t first_record_of_test() const noexcept { return first_record_; }

  /// What no story has told yet.
  Untold& untold() noexcept { return untold_; }
  Untold const& untold() const noexcept { return untold_; }
  /// The number that the next record gets.
  std::uint64_t next_record() const noexcept { return ring_ == nullptr ? 0 : ring_->next_number(); }

  /// How lines look, to be printed by `writer`; a prefix says whose a record is where that is not the running test.
  tracing::PrintOptions print_options(tracing::WriterPtr writer) const;

 private:
  explicit Session(internal::ProcessRole const& role);
  void make_capture();
  void make_format(internal::ProcessRole const& role);
  void make_registry();
  void make_files();
  std::unique_ptr<tracing::Filter> file_filter() const;
  void lock_for_fork();
  void unlock_after_fork();

  bool is_sure_to_keep(tracing::Verdict verdict) const noexcept;

  static constexpr tracing::Verdict kShowVerdict = 1;     // the layer that shows stands first
  static constexpr tracing::Verdict kCaptureVerdict = 2;  // then that which captures, where there is one

  Environment environment_;
  std::string reports_;  // about bad values
  bool const in_death_test_child_;
  bool mute_ = false;
  std::atomic<bool> listeners_taken_{false};
  std::atomic<bool> tells_{false};
  Output output_;
  Attribution& attribution_;
  std::shared_ptr<tracing::RecordRing> ring_;
  std::unique_ptr<tracing::EnvFilter> capture_filter_;  // until the registry has it
  tracing::EnvFilter const* captured_ = nullptr;
  ShowFilter* show_filter_ = nullptr;
  std::unique_ptr<PerfOutputs> perf_;   // null where perf spans are off
  std::unique_ptr<FileOutputs> files_;  // null where none was asked for
  std::shared_ptr<tracing::Timer const> timer_;
  std::shared_ptr<tracing::EventFormat const> format_;
  std::shared_ptr<tracing::Registry> registry_;
  std::uint64_t first_record_ = 0;
  Untold untold_;
  std::string filter_outside_;  // the directives outside tests
};

}  // namespace testlog::inline v1
