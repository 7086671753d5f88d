// DividedRuns: divides a recording into the runs of its tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracing_core/record/recording.h"
#include "tracing_core/record/tests.h"

namespace testlog::why {

/// How a run ended.
struct RunEnd {
  std::string result;      ///< passed, failed or skipped; empty if the test did not end, or is a program
  tracing::Instant time;   ///< of the last record of the recording until then
  std::uint64_t lost = 0;  ///< records that are not in the recording
};

/// Reads a recording and passes each record on to the run that it is part of. A recording of a program without tests is
/// one run of a test without a name. `Run` is what a reader keeps of a run. Single-thread.
template <class Run>
class DividedRuns {
 public:
  explicit DividedRuns(tracing::recording::Recording& recording) : recording_(recording) {}
  DividedRuns(DividedRuns const&) = delete;
  DividedRuns& operator=(DividedRuns const&) = delete;

  void read() {
    using tracing::recording::Entry;
    is_program_ = !recording_.runs_tests();
    note_causes();
    if (is_program_) begin_run(0, "");
    recording_.for_each([this](Entry const& entry) {
      last_ = entry.time;
      if (entry.type == tracing::recording::EntryType::mark) return divide_at(entry);
      if (Run* const run = run_of(is_program_ ? 0 : entry.tag)) return see(*run, entry);
      bool const is_late = entry.tag != 0 && entry.tag < running_;
      see_other(entry, is_late ? run_of(running_) : nullptr);
    });
    while (!runs_.empty()) end_run(runs_.begin(), "");
  }

 protected:
  ~DividedRuns() = default;

  /// Begins a run. Returns null if the test is of no interest.
  virtual std::unique_ptr<Run> begin(std::string const& test) = 0;
  virtual void see(Run& run, tracing::recording::Entry const& entry) = 0;
  virtual void see_process(tracing::recording::Entry const& /*mark*/) {}
  /// Called for a record that is part of no run. `late_during`: the run during which a thread of an earlier test made
  /// it; or null.
  virtual void see_other(tracing::recording::Entry const& /*entry*/, Run* /*late_during*/) {}
  /// Called for a mark inside the run, such as a failure.
  virtual void see_mark(Run& /*run*/, std::string_view /*name*/, tracing::recording::Entry const& /*mark*/) {}
  virtual void end(Run& run, RunEnd end) = 0;

  /// Returns the key of the span that a span is inside of. A span that was emitted after its end, as those of a GPU
  /// are, counts as inside the call that launched it.
  std::uint64_t span_around(tracing::recording::Entry const& begin) const noexcept {
    if (begin.parent != 0 || !begin.has_own_time()) return begin.parent;
    auto const found = causes_.find(begin.span);
    return found == causes_.end() ? 0 : found->second;
  }
  /// Returns the name of the test with this tag; empty if the mark where it began is lost.
  std::string const& test_of(std::uint32_t tag) { return names_[tag]; }
  bool is_program() const noexcept { return is_program_; }
  /// Returns the number of the main thread; 0 if it is not known.
  std::uint64_t main_thread() const noexcept {
    for (tracing::recording::Thread const& thread : recording_.threads()) {
      if (thread.os_thread == static_cast<std::int64_t>(recording_.process())) return thread.number;
    }
    return 0;
  }

 private:
  struct NamedRun {
    std::string test;
    std::unique_ptr<Run> run;
  };
  using Runs = std::map<std::uint32_t, NamedRun>;  // by tag

  void note_causes() {
    using tracing::recording::EntryType;
    if (!recording_.has(EntryType::follows_from)) return;
    recording_.for_each([this](tracing::recording::Entry const& entry) {
      if (entry.type == EntryType::follows_from) causes_.try_emplace(entry.span, entry.cause);
    });
  }

  Run* run_of(std::uint32_t tag) {
    if (!has_looked_up_ || tag != looked_up_) {
      auto const found = runs_.find(tag);
      found_ = found == runs_.end() ? nullptr : found->second.run.get();
      looked_up_ = tag;
      has_looked_up_ = true;
    }
    return found_;
  }

  void begin_run(std::uint32_t tag, std::string test) {
    if (auto const before = runs_.find(tag); before != runs_.end()) end_run(before, "");
    has_looked_up_ = false;
    if (auto run = begin(test)) runs_[tag] = {std::move(test), std::move(run)};
  }

  void end_run(typename Runs::iterator at, std::string result) {
    std::uint64_t const lost = is_program_ ? recording_.lost().count : recording_.lost_of(at->first);
    end(*at->second.run, {std::move(result), last_, lost});
    runs_.erase(at);
    has_looked_up_ = false;
  }

  void divide_at(tracing::recording::Entry const& mark) {
    using tracing::recording::text_of_field;
    std::string_view const name = mark.metadata->name();
    if (name == "process") return see_process(mark);
    if (name == "test_begin") names_[mark.tag] = text_of_field(mark, "test");
    if (mark.is_context) return;  // of an earlier test
    if (name == "test_begin") {
      running_ = mark.tag;
      return begin_run(mark.tag, names_[mark.tag]);
    }
    if (name == "test_end" && mark.tag == running_) running_ = 0;
    auto const run = runs_.find(mark.tag);
    if (run == runs_.end() || text_of_field(mark, "test") != run->second.test) return;
    if (name == "test_end") return end_run(run, text_of_field(mark, "result"));
    see_mark(*run->second.run, name, mark);
  }

  tracing::recording::Recording& recording_;
  bool is_program_ = false;
  tracing::Instant last_{};
  Runs runs_;
  std::unordered_map<std::uint64_t, std::uint64_t> causes_;  // the spans that spans follow from, by keys
  std::unordered_map<std::uint32_t, std::string> names_;     // of tests, by tag
  std::uint32_t running_ = 0;                                // the tag of the test that runs
  Run* found_ = nullptr;                                     // the run with the tag looked_up_
  std::uint32_t looked_up_ = 0;
  bool has_looked_up_ = false;
};

}  // namespace testlog::why
