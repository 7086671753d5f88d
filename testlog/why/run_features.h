// RunFeatures: what one run of a test did, in a form that can be compared with other runs.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "testlog/why/sites.h"
#include "testlog/why/values.h"

namespace testlog::why {

/// A step of a thread: an event, the beginning of a span, or its end.
using StepId = std::uint32_t;
inline StepId step_of(SiteId site, bool is_end) noexcept { return 2 * site + (is_end ? 1 : 0); }
inline SiteId site_of(StepId step) noexcept { return step / 2; }
inline bool is_end(StepId step) noexcept { return step % 2 != 0; }

struct SiteFeatures {
  std::uint32_t count = 0;  ///< events, or spans that began; in a failing run, only before its failure
  std::uint32_t later = 0;  ///< after its failure
  std::uint32_t open = 0;   ///< spans that had not ended
  Moment first{}, last{};
  SiteId before = kNoSite;      ///< the site of the step before `first`, on its thread
  std::int64_t longest_ns = 0;  ///< of its spans; spans that had not ended count until the failure
  Moment longest{};             ///< when the longest span began
  bool is_longest_open = false;
  bool has_error = false;  ///< a field was an error
  Moment left{};           ///< when an exception first left a span; its order is that of the thread's step before
  Values threads{};        ///< the groups of threads that were here
  Values next_steps[2]{};  ///< the next steps on its threads: after it, and after its end
};

/// Two records of different threads have the same value in fields of one name; the record of `first` came first.
struct Order {
  SiteId first, second;
  NameId name;
  friend auto operator<=>(Order const&, Order const&) noexcept = default;
};

/// The first two records that make an order.
struct OrderedPair {
  Moment first;         ///< of the record that came first
  std::string value{};  ///< that both have, as formats print it
  std::uint64_t second_thread = 0;
  bool is_of_device = false;  ///< their times are those of a device, such as a GPU
};

/// What the threads of one earlier test, which had ended, recorded while the test ran.
struct LateRecords {
  std::string test{};
  std::uint32_t count = 0;
  SiteId site = kNoSite;    ///< of the first record
  SiteId before = kNoSite;  ///< of the record before, on the same thread; kNoSite: not known
  Moment first{};
};

/// A step of the main thread: the `count`th of its kind.
struct CountedStep {
  StepId step;
  std::uint32_t count;
};

/// The moment of a passing run that corresponds to the failure of a failing run: after the last step of the main thread
/// that both runs have.
struct Point {
  std::uint64_t order = 0;                      ///< the last record before the moment
  std::uint64_t next_order = 0;                 ///< the last record before the next step of the main thread
  std::vector<std::uint32_t> counts{}, open{};  ///< SiteFeatures::count and open then, by site
};

struct RunFeatures {
  std::string file{};        ///< of the recording
  std::string command{};     ///< the command that made the recording; empty if it is not known
  std::string framework{};   ///< of its tests, `Catch2 3.7.1`; empty for GoogleTest
  std::uint64_t lost = 0;    ///< records of the run that are not in the recording
  bool has_stopped = false;  ///< the test did not end by itself
  Moment failure{};          ///< when it failed; of a passing run, its end
  std::uint64_t main_thread = 0;
  std::vector<SiteFeatures> sites{};  ///< by SiteId; may be shorter than Sites
  std::vector<Values> fields{};       ///< by FieldId
  std::map<Order, OrderedPair> orders{};
  LateRecords late{};
  std::map<std::uint64_t, std::string> thread_names{};
  std::vector<CountedStep>
      last_steps{};             ///< of a failing run: the last steps of its main thread before it failed, oldest first
  std::vector<Point> points{};  ///< of a passing run: a point for each failing run
};

/// The runs of one test.
struct ComparedTest {
  Sites sites{};
  std::vector<RunFeatures> failing{}, passing{};
};
/// The tests by name; the name is empty for a recording of a program without tests.
using ComparedTests = std::map<std::string, ComparedTest>;

}  // namespace testlog::why
