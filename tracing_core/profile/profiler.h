// with_profiler(): records what a program does for a while, and writes files that ui.perfetto.dev and TensorBoard open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/profile/annotate.h"
#include "tracing_core/profile/link.h"

namespace tracing::inline v1 {

struct ProfilerOptions {
  /// Spans, events, perf spans and annotations of the program.
  bool host = true;
  /// Kernels and copies, with the times of the device.
  bool device = true;
  /// Which spans, events and perf spans: `target=level,...,level`, see Targets::parse(). Perf spans of level trace, which are
  /// for details that slow the program down, only if it names their target: `trace,mylib=trace`. It does not concern
  /// annotations and devices.
  std::string filter = "trace";
  /// The most verbose annotations.
  AnnotationLevel annotations = AnnotationLevel::info;
  /// How much memory the records may take, about; the oldest are overwritten, and that is reported. From 256 KiB to 16 GiB.
  /// Memory is used only as it is filled, and given back when the profile is written.
  std::size_t limit_bytes = std::size_t{256} << 20;
  /// The name of the profile's folder, of which several processes may share one; `/` and `:` in it become `_`. Empty: the local
  /// time, and a number if that folder exists.
  std::string run{};
  /// The name of this process's files; empty: that of the machine.
  std::string host_name{};
  /// Prints to standard error where the files are, and what the profile adds up to.
  bool print = true;
  /// Rows of each of the printed tables; zero: no tables.
  std::size_t table_rows = 20;
  /// Prints a link that opens the profile in ui.perfetto.dev, and waits until the page has fetched it: see
  /// serve_perfetto_link().
  bool create_perfetto_link = false;
  LinkOptions link{};
};

/// What became of a profile.
struct ProfileResult {
  /// A sentence; empty if all went well.
  std::string error{};
  /// `dir/plugins/profile/<run>`, and the files in it, as absolute paths. Empty if there are none.
  std::string folder{};
  std::vector<std::string> files{};
  /// Records that are not in the files, since limit_bytes was too small for them.
  std::uint64_t overwritten = 0;

  bool ok() const noexcept { return error.empty(); }
};

/// Starts a profile of this process, whose files will be in `dir`, wherever the program changes its folder to. It has the
/// records of all threads whose subscriber is that of the calling thread: if this has a scoped default, of those alone that
/// have the same. It goes on beside what the program prints and records anyway, and has none of the spans that are open now. In a
/// program without a subscriber, an empty registry becomes the global default, so that set_global_default() has no effect
/// afterwards.
///
/// Returns a sentence if nothing was started, such as that a profile is being recorded already; empty otherwise.
/// Thread-safe.
[[nodiscard]] std::string profiler_start(std::string dir, ProfilerOptions options = {});
/// Ends the profile and writes its files, each of which is complete or absent. If the process ends before, there are none. In
/// a forked child there is no profile. Any thread may call it. Thread-safe.
ProfileResult profiler_stop();

namespace internal {

// A profile from here to the end of the scope.
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

/// Calls `f()` and returns its result, or throws its exception, after the profile of it was written:
///
///     auto loss = tracing::with_profiler("./profiles", [&] { return train(model, batches); });
///
/// `f` is called even if there is no profile, because one is being recorded already or the files cannot be written. `result`
/// says what became of it; where that is null, mistakes are printed to standard error.
template <class F>
decltype(auto) with_profiler(std::string dir, F&& f, ProfilerOptions options = {}, ProfileResult* result = nullptr) {
  internal::ProfilerScope const scope(std::move(dir), std::move(options), result);
  return std::forward<F>(f)();
}

}  // namespace tracing::inline v1
