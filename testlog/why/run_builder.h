// RunBuilder: collects the features of one run, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "testlog/why/run_features.h"
#include "tracing_core/record/entry.h"

namespace testlog::why {

/// Remembers which sites on which threads last had a value, such as `id=7`. Bounded: forgets the older of many
/// values.
class SharedValues {
 public:
  struct Place {
    SiteId site = kNoSite;
    Moment moment{};
    bool has_own_time = false;  ///< as Entry::has_own_time()
  };
  struct Slot {
    std::uint64_t key = 0;
    std::vector<Place> places{};
  };
  // Of the records of a device many have the same value, such as its number.
  static constexpr std::size_t max_places(bool is_of_device) noexcept { return is_of_device ? 16 : 3; }

  /// Returns the slot of a value, an empty slot if it is new. Values of devices have slots of their own.
  Slot& slot_of(NameId name, std::uint64_t value, bool is_of_device);

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 14;
  std::vector<Slot> slots_;
};

/// A span that has not ended.
struct OpenSpan {
  tracing::Metadata const* metadata = nullptr;
  std::uint64_t parent = 0;  ///< its key
  SiteId site = kNoSite;
  class RunBuilder* run = nullptr;  ///< the run in which it began
  Moment begin{};                   ///< not set if its beginning is not in the recording
  bool is_scope = false;            ///< a thread is in it, which entered it when it began
};

class RunBuilder {
 public:
  /// Collects a failing run.
  explicit RunBuilder(ComparedTest& test) : RunBuilder(test, {}) {}
  /// Collects a passing run, to be compared with these failing runs.
  RunBuilder(ComparedTest& test, std::vector<RunFeatures> const& failing);
  RunBuilder(RunBuilder const&) = delete;
  RunBuilder& operator=(RunBuilder const&) = delete;

  SitesOfRecording& sites() noexcept { return sites_; }
  RunFeatures& features() noexcept { return run_; }
  void set_main_thread(std::uint64_t thread) noexcept { run_.main_thread = thread; }

  /// Adds a step, and then its fields. Returns its moment.
  Moment begin_span(SiteId site, tracing::recording::Entry const& entry);
  void end_span(OpenSpan const& span, tracing::recording::Entry const& entry);
  /// Adds the step of a thread that leaves a span which it entered when it began.
  void leave_scope(SiteId site, tracing::recording::Entry const& entry) { step(site, true, entry); }
  /// Notes that an exception leaves the span.
  void leave_by_exception(SiteId site, tracing::recording::Entry const& entry);
  void add_event(SiteId site, tracing::recording::Entry const& entry);
  void add_values(SiteId site, tracing::recording::Entry const& entry);
  /// Notes a record of a thread of an earlier test. `before`: the site of its record before.
  void add_late(SiteId site, SiteId before, std::string const& test, tracing::recording::Entry const& entry);

  bool has_failed() const noexcept { return has_failed_; }
  /// Ends the features: later records count only as SiteFeatures::later.
  void fail(tracing::Instant time);
  /// Counts a span that had not ended when fail() was called or, in a run without failure, finish().
  void leave_open(OpenSpan const& span);
  /// Ends the run. Returns its features.
  RunFeatures finish(tracing::Instant time, bool has_stopped);

 private:
  struct Thread {
    NameId group = 0;
    StepId last = 0;
    bool has_last = false;
    std::uint64_t last_order = 0;
  };
  // What a passing run knows of a failing run that it is compared with.
  struct Aim {
    std::unordered_map<std::uint64_t, std::size_t> ranks;  // ranks of its last steps, from 1; by step and count
    bool has_stopped = false;
    std::size_t rank = 0;  // the rank of the last step that was found
    bool is_next = false;  // the next step of the main thread is awaited
  };

  static constexpr std::size_t kLastSteps = 64;

  SiteFeatures& at(SiteId site);
  Thread& thread_of(tracing::recording::Entry const& entry, SiteId site);
  Moment step(SiteId site, bool is_end, tracing::recording::Entry const& entry);
  void main_step(StepId step);
  void meet(Aim& aim, Point& point, StepId step, std::uint32_t count);
  void take(Point& point) const;
  void add_fields(SiteId site, tracing::recording::Entry const& entry, Moment const& moment);
  void share(NameId name, tracing::Value const& value, SharedValues::Place const& here);

  SitesOfRecording sites_;
  RunFeatures run_;
  std::vector<Aim> aims_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<std::uint32_t> main_counts_;  // by StepId
  SharedValues shared_;
  std::uint64_t order_ = 0;
  bool has_failed_ = false;
};

}  // namespace testlog::why
