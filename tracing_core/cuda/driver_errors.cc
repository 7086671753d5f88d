// How a Driver reports errors and completed launches.
#include <algorithm>
#include <string>

#include "tracing_core/cuda/driver_state.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/perf/finish_perf.h"

namespace tracing::inline v1::cuda {
namespace {

using tracing::internal::MutexLock;

constexpr std::size_t kMaxCandidates = 8;  // that are reported individually

std::string name_of(Launch const& launch) { return fmt::format("launch {} of {}", launch.id, launch.kernel); }
std::string name_and_stream_of(Launch const& launch) {
  return name_of(launch) + " on " + text_of_stream(launch.stream);
}

}  // namespace

std::string Loss::to_string() const {
  std::string text =
      fmt::format("{} ({}) from {}: {}; ", error_name(code), static_cast<int>(code), call, error_description(code));
  std::size_t const count = candidates.size() + forgotten;
  if (candidates.size() == 1 && count == 1) {
    text += "caused by " + name_of(candidates.front()) + (exact ? "" : ", the only one outstanding");
  } else if (launch != 0) {
    text += fmt::format("caused by launch {}, which this Driver did not make", launch);
  } else if (count == 0) {
    text += "no launch of this Driver was outstanding";
  } else {
    text += fmt::format("caused by one of {} outstanding launches: ", count);
    for (std::size_t i = 0; i < std::min(candidates.size(), kMaxCandidates); ++i) {
      text += (i == 0 ? "" : ", ") + name_and_stream_of(candidates[i]);
    }
    if (count > kMaxCandidates) text += ", ...";
  }
  return detail.empty() ? text : text + " (" + detail + ")";
}

CUresult Driver::check(CUresult result, std::string_view call) { return state_->check(result, "{}", call); }

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
  }
  if (now.launch != 0) {
    std::erase_if(now.candidates, [&](Launch const& launch) { return launch.id != now.launch; });
    now.forgotten = 0;
  }
  // If launches block, all earlier launches had ended when the last one was made.
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
    // A warning: each later call fails, and only the first failure is news.
    TRACE_WARN("{} failed: the context has been lost since {}", now.call, first_call,
               tracing::kv("error", tracing::display(name)), code);
    return;
  }
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

void Driver::State::report_completed(std::vector<Launch> const& launches, std::string_view observed_by) {
  for (Launch const& launch : launches) {
    auto const duration = std::chrono::steady_clock::now() - launch.at;
    auto const waited = std::chrono::duration_cast<std::chrono::microseconds>(duration);
    finish_perf(launch.perf, duration);
    TRACE_TRACE("completed", tracing::kv("launch", launch.id),
                tracing::kv("observed_by", tracing::display(observed_by)), tracing::kv("after_us", waited.count()),
                tracing::parent(launch.span.or_current()));
  }
}

}  // namespace tracing::inline v1::cuda
