// with_profiler(): records what a program does for a while, and writes files that ui.perfetto.dev and TensorBoard open.
#pragma once

#include <string>
#include <utility>

#include "tracing_core/profile/annotate.h"
#include "tracing_core/profile/link.h"
#include "tracing_core/profile/profiler_options.h"

namespace tracing { inline namespace v1 {

/// Starts a profile of this process, whose files will be in `dir`, even if the program changes its current folder. The
/// profile has the records of all threads that share the subscriber of the calling thread; if that is a scoped default,
/// only threads with this scoped default share it. The profile does not change what else the program prints and
/// records. Spans that are open now are not in the profile. In a program without a subscriber, an empty registry
/// becomes the global default, so that set_global_default() has no effect afterwards.
///
/// Returns why nothing was started, for example because a profile is already being recorded; empty if it was started.
/// Thread-safe.
[[nodiscard]] std::string profiler_start(std::string dir, ProfilerOptions options = {});
/// Ends the profile and writes its files, each of which is complete or absent. If the process ends before, nothing is
/// written. A forked child does not inherit the profile. Any thread may call it. Thread-safe.
ProfileResult profiler_stop();

namespace internal {

// Makes a profile until the end of the scope.
class ProfilerScope {
 public:
  ProfilerScope(std::string dir, ProfilerOptions options, ProfileResult* result);
  ProfilerScope(ProfilerScope const&) = delete;
  ProfilerScope& operator=(ProfilerScope const&) = delete;
  ~ProfilerScope();

 private:
  bool started_ = false;
  ProfileResult* const result_;
};

}  // namespace internal

/// Makes a profile of `f()`. Returns the result of `f`, or throws its exception, after the profile was written:
///
///     auto loss = tracing::with_profiler("./profiles", [&] { return train(model, batches); });
///
/// `f` is called even if no profile can be made, because another one is being recorded or the files cannot be written.
/// `result` receives the result of the profile; if `result` is null, errors are printed to standard error.
template <class F>
decltype(auto) with_profiler(std::string dir, F&& f, ProfilerOptions options = {}, ProfileResult* result = nullptr) {
  internal::ProfilerScope const scope(std::move(dir), std::move(options), result);
  return std::forward<F>(f)();
}

}}  // namespace tracing::v1
