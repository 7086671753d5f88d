// A program that records a profile of itself.
#include <cstdio>

#include <tracing_core/profile/measure.h>
#include <tracing_core/profile/profiler.h>
#include <tracing_core/tracing.h>

int main() {
  tracing::ProfileResult result;
  int const n = tracing::with_profiler(
      "profiles",
      [] {
        TRACE_ANNOTATE("work");
        return tracing::annotate("inner", [] { return 7; });
      },
      {.print = false}, &result);
  std::printf("%d, %zu file in %s %s\n", n, result.files.size(), result.folder.c_str(), result.error.c_str());
  return n == 7 && result.ok() && tracing::profile([] {}).error.empty() ? 0 : 1;
}
