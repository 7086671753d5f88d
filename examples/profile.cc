// A profile of a training loop, for ui.perfetto.dev and TensorBoard, and what single steps of it take.
#include <chrono>
#include <cstdio>
#include <string>

#include <tracing_core/profile/measure.h>
#include <tracing_core/profile/profiler.h>
#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace train {

void forward(int layer) {
  TRACE_ANNOTATE("forward", layer);
  examples::work_for(2ms);
  TRACE_ANNOTATE_AT(verbose, "activation");  // not in this profile
  examples::work_for(1ms);
}

double step(int number) {
  TRACE_STEP(number);
  for (int layer = 0; layer < 2; ++layer) forward(layer);
  return tracing::annotate("loss " + std::to_string(number), [&] {
    examples::work_for(1ms);
    return 1.0 / (number + 1);
  });
}

double epoch() {
  TRACE_SPAN(info, "epoch");
  double loss = 0;
  for (int number = 0; number < 3; ++number) loss = step(number);
  TRACE_INFO("done", loss);
  return loss;
}

}  // namespace train

int main(int argc, char** argv) {
  (void)examples::is_time_simulated;
  std::string const dir = argc > 1 ? argv[1] : "profiles";
  tracing::ProfileResult profile;
  double const loss = tracing::with_profiler(dir, train::epoch, {.run = "example", .host_name = "machine", .print = false}, &profile);
  std::printf("loss %.2f\n", loss);
  if (!profile.ok()) std::printf("%s\n", profile.error.c_str());
  std::printf("wrote %zu files to %s\n", profile.files.size(), profile.folder.c_str());

  auto const runs = tracing::profile([] { train::step(0); }, {.warmup = 1, .repeat = 5});
  std::printf("%s", runs.to_string().c_str());
}
