// The methods of Driver that report errors and completed launches.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda"
#include <algorithm>
#include <string>

#include "tracing_core/cuda/driver/driver_state.h"
#include "tracing_core/cuda/driver/kernel_name.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/perf/finish_perf.h"
#include "tracing_core/support/cut_in_middle.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::MutexLock;

constexpr std::size_t kMaxCandidates = 8;  // the number that is reported individually

std::string name_of(Launch const& launch) {
  return fmt::format("launch {} of {}", launch.id, support::cut_in_middle(launch.kernel, kMaxKernelName));
}
std::string name_and_stream_of(Launch const& launch) {
  return name_of(launch) + " on " + text_of_stream(launch.stream);
}

}  // namespace

namespace {

// Returns `caused by launch 3 of scale`.
std::string cause_of(Loss const& loss) {
  if (!loss.work.empty()) return "caused by " + loss.work;
  auto const& candidates = loss.candidates;
  std::size_t const count = candidates.size() + loss.forgotten;
  if (candidates.size() == 1 && count == 1)
    return "caused by " + name_of(candidates.front()) + (loss.exact ? "" : ", the only one outstanding");
  if (loss.launch != 0) return fmt::format("caused by launch {}, which this Driver did not make", loss.launch);
  if (count == 0) return "no launch of this Driver was outstanding";
  std::string text = fmt::format("caused by one of {} outstanding launches: ", count);
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxCandidates); ++i) {
    text += (i == 0 ? "" : ", ") + name_and_stream_of(candidates[i]);
  }
  return count > kMaxCandidates ? text + ", ..." : text;
}

}  // namespace

std::string Loss::to_string() const {
  std::string const result = fmt::format("{} ({}) from {}", error_name(code), static_cast<int>(code), call);
  if (detail.empty()) return fmt::format("{}: {}; {}", result, error_description(code), cause_of(*this));
  return fmt::format("{}; {}; {}", detail, cause_of(*this), result);
}

CUresult Driver::check(CUresult result, std::string_view call, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  return state_->check(result, "{}", call);
}

std::optional<Loss> Driver::loss() const {
  MutexLock const lock(state_->mutex);
  return state_->loss;
}

void Driver::State::report_error(CUresult code, std::string_view call, std::string detail) {
  if (lost_with(code) == Lost::nothing) {
    TRACE_ERROR("{} failed: {}", call, error_description(code, &api),
                tracing::kv("error", tracing::display(error_name(code, &api))),
                tracing::kv("code", static_cast<int>(code)),
                tracing::kv("detail", detail.empty() ? nullptr : detail.c_str()));
    if (options.failed_call) options.failed_call(call, detail);
    return;
  }
  Loss now;
  now.code = code;
  now.call = call;
  now.detail = std::move(detail);
  now.candidates = log.outstanding();
  now.forgotten = log.forgotten();
  if (options.failed_launch) {
    auto failed = options.failed_launch();
    now.launch = failed.launch;
    if (!failed.detail.empty()) now.detail = std::move(failed.detail);
    now.work = std::move(failed.work);
  }
  if (!now.work.empty()) {
    now.candidates.clear();
    now.forgotten = 0;
  } else if (now.launch != 0) {
    std::erase_if(now.candidates, [&](Launch const& launch) { return launch.id != now.launch; });
    now.forgotten = 0;
  }
  // If launches block, all earlier launches had ended when the last launch was made.
  now.exact = now.candidates.size() == 1 && (now.launch != 0 || blocking);
  report_loss(now);
}

void Driver::State::report_loss(Loss const& now) {
  std::string first_call;
  {
    MutexLock const lock(mutex);
    if (loss) first_call = loss->call;
    if (!loss) loss = now;
  }
  auto const name = error_name(now.code, &api);
  int const code = static_cast<int>(now.code);
  if (!first_call.empty()) {
    // Only a warning, since each later call fails, and only the first failure is news.
    TRACE_WARN("{} failed: the context has been lost since {}", now.call, first_call,
               tracing::kv("error", tracing::display(name)), code);
    return;
  }
  free_host_calls();
  std::size_t const count = now.candidates.size() + now.forgotten;
  char const* const detail = now.detail.empty() ? nullptr : now.detail.c_str();
  TRACE_ERROR("{} failed and the context is lost: {}", now.call, error_description(now.code, &api),
              tracing::kv("error", tracing::display(name)), code, tracing::kv("detail", count == 1 ? nullptr : detail));
  for (std::size_t i = 0; i < std::min(now.candidates.size(), kMaxCandidates); ++i) {
    Launch const& launch = now.candidates[i];
    Span const span = launch.span.or_current();
    if (count == 1) {
      TRACE_ERROR("{} caused the failure{}", name_of(launch), now.exact ? "" : ": no other launch was outstanding",
                  tracing::kv("error", tracing::display(name)), tracing::kv("detail", detail), tracing::parent(span));
    } else {
      TRACE_WARN("{} is one of {} that may have caused the failure", name_and_stream_of(launch), count,
                 tracing::kv("error", tracing::display(name)), tracing::parent(span));
    }
  }
  if (count > kMaxCandidates) TRACE_WARN("{} more launches may have caused the failure", count - kMaxCandidates);
}

void Driver::State::report_completed(std::vector<Launch> launches, std::string_view observed_by) {
  if (launches.empty()) return;
  auto const now = std::chrono::steady_clock::now();
  for (Launch& launch : launches) {
    auto const duration = now - launch.at;
    auto const waited = std::chrono::duration_cast<std::chrono::microseconds>(duration);
    if (launch.perf) finish_perf(std::move(launch.perf), duration);
    TRACE_TRACE("completed", tracing::kv("launch", launch.id),
                tracing::kv("observed_by", tracing::display(observed_by)), tracing::kv("after_us", waited.count()),
                tracing::parent(launch.span ? launch.span.id() : Span::current().id()));
    launch.span = Span();  // close it at once, so that it is next to its event in a recording
  }
}

// Returns `all` if the event of a launch is enabled: the event of a launch without a span is emitted in the current
// span. Filters decide by target, level and fields.
LaunchLog::Completed Driver::State::reported() const noexcept {
  bool const is_on = TRACE_ENABLED(trace, tracing::kv("launch", LaunchId{}), tracing::kv("observed_by", nullptr),
                                   tracing::kv("after_us", 0));
  return is_on ? LaunchLog::Completed::all : LaunchLog::Completed::with_span;
}

}}}  // namespace tracing::v1::cuda
