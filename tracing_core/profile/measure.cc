#include "tracing_core/profile/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracing_core/format/duration_text.h"
#include "tracing_core/inspect/device_calls.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/profile/annotate.h"
#include "tracing_core/profile/recorded_profile.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 {
namespace {

using recording::Entry;
using recording::EntryType;

constexpr std::string_view kRunTarget = "tracing::profile";
constexpr std::string_view kDeviceTarget = "tracing::cuda::device";

// Returns true if the call was captured into a graph, so that the device did nothing.
bool is_captured(recording::Entry const& entry) noexcept {
  if (entry.values == nullptr) return false;
  return !internal::value_named(FieldValues(*entry.metadata, entry.values), "capture").is_empty();
}

// Returns the bytes of a copy, from the beginning of its span.
std::uint64_t bytes_of(recording::Entry const& entry) noexcept {
  if (entry.values == nullptr) return 0;
  FieldValues const values(*entry.metadata, entry.values);
  auto const count_of = [&values](std::string_view name) -> std::optional<std::uint64_t> {
    std::size_t const index = values.metadata().fields().index_of(name);
    return index == values.size() ? std::nullopt : std::optional(values.value(index).as_u64());
  };
  return internal::requested_bytes(entry.metadata->name(), count_of);
}

// Reads a recording in which each run is a span of kRunTarget.
class RunReader {
 public:
  explicit RunReader(std::vector<ProfiledRun*> runs) : runs_(std::move(runs)) {}

  void add(recording::Entry const& entry) {
    if (entry.is_context) return;
    bool const begins = begins_span(entry.type);
    if (begins && entry.metadata->target() == kRunTarget && next_ < runs_.size()) run_ = runs_[next_++];
    if (run_ == nullptr) return;
    if (begins) count(entry);
    if (enters_span(entry.type)) {
      if (std::uint64_t* const sum = time_of(*entry.metadata)) began_[entry.span] = {entry.time, sum};
    } else if (leaves_span(entry.type)) {
      end(entry);
    }
  }

 private:
  struct Began {
    Instant time;
    std::uint64_t* sum;
  };

  void count(recording::Entry const& entry) noexcept {
    if (!internal::is_of_cuda(*entry.metadata) || is_captured(entry)) return;
    if (entry.metadata->name() == "launch") ++run_->launches;
    if (entry.metadata->name().starts_with("memcpy_")) run_->copied_bytes += bytes_of(entry);
  }
  // Returns the sum that the time inside a span of this callsite is added to; null if the time is not counted.
  std::uint64_t* time_of(Metadata const& metadata) noexcept {
    if (internal::is_of_cuda(metadata) && metadata.name() == "compile") return &run_->compile_ns;
    if (metadata.target() == kDeviceTarget && metadata.name() == "kernel") return &run_->device_ns;
    return nullptr;
  }
  void end(recording::Entry const& entry) noexcept {
    auto const found = began_.find(entry.span);
    if (found == began_.end()) return;
    if (entry.time > found->second.time)
      *found->second.sum += static_cast<std::uint64_t>(entry.time.ns - found->second.time.ns);
    began_.erase(found);
  }

  std::vector<ProfiledRun*> const runs_;
  std::size_t next_ = 0;
  ProfiledRun* run_ = nullptr;
  std::unordered_map<std::uint64_t, Began> began_;  // by span
};

void run_once(void (*run)(void* f), void* f, ProfiledRun& made) {
  TRACE_ANNOTATE("run", tracing::target("tracing::profile"));
  std::uint64_t const begin = support::ticks_now();
  run(f);
  made.runtime_ns = support::ns_between(begin, support::ticks_now());
}

// Records the runs. Ends the recording even if a run throws.
class Recorder {
 public:
  Recorder()
      : error_(internal::start_recording(
            {.filter = "tracing::cuda=trace,off", .annotations = AnnotationLevel::critical})) {}
  Recorder(Recorder const&) = delete;
  Recorder& operator=(Recorder const&) = delete;
  ~Recorder() {
    if (!done_ && error_.empty()) (void)internal::stop_recording();
  }
  internal::RecordedProfile stop() {
    done_ = true;
    if (!error_.empty()) return {.error = error_};
    return internal::stop_recording();
  }

 private:
  std::string const error_;
  bool done_ = false;
};

void append_duration(TextBuffer& out, double ns) { append_duration(out, static_cast<std::uint64_t>(ns + 0.5)); }

std::uint64_t sum_of(std::vector<ProfiledRun> const& runs, std::uint64_t ProfiledRun::*what) noexcept {
  std::uint64_t sum = 0;
  for (ProfiledRun const& run : runs) sum += run.*what;
  return sum;
}

}  // namespace

ProfiledRuns internal::profile_runs(void (*run)(void* f), void* f, ProfileOptions const& options) {
  ProfiledRuns made;
  made.warmup.resize(options.warmup);
  made.runs.resize(options.repeat);
  std::vector<ProfiledRun*> all;
  for (auto* const runs : {&made.warmup, &made.runs})
    for (ProfiledRun& one : *runs) all.push_back(&one);
  start_span_clock();
  Recorder recorder;
  for (ProfiledRun* const one : all) run_once(run, f, *one);
  RecordedProfile const profile = recorder.stop();
  made.error = profile.error;
  if (profile.overwritten > 0)
    made.error =
        std::to_string(profile.overwritten) + " records were overwritten: " + "the runs did more than this says";
  if (profile.recording == nullptr) return made;
  RunReader reader(std::move(all));
  profile.recording->for_each([&reader](recording::Entry const& entry) { reader.add(entry); });
  return made;
}

Spread ProfiledRuns::spread(std::uint64_t ProfiledRun::*what) const {
  Spread spread;
  if (runs.empty()) return spread;
  std::vector<std::uint64_t> values;
  for (ProfiledRun const& run : runs) values.push_back(run.*what);
  std::sort(values.begin(), values.end());
  auto const count = static_cast<double>(values.size());
  for (std::uint64_t const value : values) spread.mean += static_cast<double>(value) / count;
  double squares = 0;
  for (std::uint64_t const value : values) squares += std::pow(static_cast<double>(value) - spread.mean, 2);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (count - 1));
  spread.min = values.front();
  spread.max = values.back();
  std::size_t const middle = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[middle] : std::midpoint(values[middle - 1], values[middle]);
  return spread;
}

std::string ProfiledRuns::to_string() const {
  InlineTextBuffer<512> out;
  Spread const time = spread(&ProfiledRun::runtime_ns);
  out.append("runtime ");
  append_duration(out, time.mean);
  if (runs.size() > 1) {
    out.append(" \u00b1 ");
    append_duration(out, time.deviation);
    out.append(", median ");
    append_duration(out, time.median);
    out.append(", ");
    append_duration(out, time.min);
    out.append(" to ");
    append_duration(out, time.max);
  }
  out.append(" (runs: ");
  out.append_uint(runs.size());
  out.append(", warm-up: ");
  out.append_uint(warmup.size());
  out.append(")\n");
  if (std::uint64_t const before = sum_of(warmup, &ProfiledRun::compile_ns),
      in_runs = sum_of(runs, &ProfiledRun::compile_ns);
      before + in_runs > 0) {
    out.append("compilation ");
    append_duration(out, in_runs);
    out.append(", in the warm-up ");
    append_duration(out, before);
    out.push_back('\n');
  }
  if (sum_of(runs, &ProfiledRun::launches) > 0) {
    out.append("launches in a run ");
    out.append_uint(spread(&ProfiledRun::launches).median);
    if (sum_of(runs, &ProfiledRun::device_ns) > 0) {
      out.append(", on the device for ");
      append_duration(out, spread(&ProfiledRun::device_ns).mean);
    }
    out.push_back('\n');
  }
  if (sum_of(runs, &ProfiledRun::copied_bytes) > 0) {
    out.append("bytes copied in a run ");
    out.append_uint(spread(&ProfiledRun::copied_bytes).median);
    out.push_back('\n');
  }
  if (!error.empty()) {
    out.append(error);
    out.push_back('\n');
  }
  return std::string(out.view());
}

}}  // namespace tracing::v1
