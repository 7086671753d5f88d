// A profile of a training loop, for ui.perfetto.dev and TensorBoard, and the times of a part of it: a thread reads
// batches, and a device reports afterwards when it ran which kernel.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <tracing_core/dispatch/runtime_callsite.h>
#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/emit/past_span.h>
#include <tracing_core/profile/measure.h>
#include <tracing_core/profile/profiler.h>
#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace train {

constexpr int kSteps = 2;

// Stands in for the driver of a device. Launches and kernels are spans with these names and targets, kernels on the
// track of their stream.
class Device {
 public:
  void launch(std::string const& kernel, std::chrono::nanoseconds duration) {
    TRACE_SPAN(debug, "launch", tracing::target("tracing::cuda"), kernel);
    examples::work_for(200us);
    tracing::Instant const begin = std::max(idle_from_, tracing::Instant::now());
    idle_from_ = {begin.ns + duration.count()};
    runs_.push_back({kernel, begin, idle_from_, tracing::Span::current()});
  }
  void wait() {
    TRACE_SPAN(debug, "synchronize");
    examples::work_for(std::chrono::nanoseconds(std::max<std::int64_t>(idle_from_.ns - tracing::Instant::now().ns, 0)));
    for (Run const& run : runs_) {
      tracing::Value const name = tracing::Value::of_text(run.kernel);
      tracing::emit_past_span(kernel_.callsite(), &name, {stream_, run.begin, run.end}, run.launch);
    }
    runs_.clear();
  }

 private:
  struct Run {
    std::string kernel;
    tracing::Instant begin, end;
    tracing::Span launch;
  };

  tracing::Track const stream_{1'000'000, "GPU 0 stream 1"};
  tracing::RuntimeCallsite const kernel_{{.kind = tracing::Kind::span,
                                          .name = "kernel",
                                          .target = "tracing::cuda::device",
                                          .level = tracing::Level::debug,
                                          .fields = {"kernel.name"}}};
  tracing::Instant idle_from_;
  std::vector<Run> runs_;
};

// Reads batches on a separate thread.
class Loader {
 public:
  void next_batch() {
    TRACE_SPAN(debug, "next batch");
    wanted_.release();
    ready_.acquire();
  }

 private:
  void run() {
    tracing::set_thread_name("loader");
    for (int batch = 0; batch < kSteps; ++batch) {
      wanted_.acquire();
      {
        TRACE_SPAN(info, "read", batch);
        examples::work_for(2ms);
      }
      ready_.release();
    }
  }

  std::binary_semaphore wanted_{0}, ready_{0};
  std::jthread thread_{[this] { run(); }};
};

void forward(Device& device, int layer) {
  TRACE_ANNOTATE("forward", layer);
  device.launch("matmul", 1200us);
  TRACE_ANNOTATE_AT(verbose, "activation");  // not in this profile
  device.launch("softmax", 500us);
}

double step(Device& device, Loader& loader, int number) {
  TRACE_STEP(number);
  for (int layer = 0; layer < 2; ++layer) forward(device, layer);
  loader.next_batch();  // while the device works
  return tracing::annotate("loss " + std::to_string(number), [&] {
    device.wait();
    examples::work_for(500us);
    return 1.0 / (number + 1);
  });
}

double epoch(Device& device) {
  TRACE_SPAN(info, "epoch");
  Loader loader;
  double loss = 0;
  for (int number = 0; number < kSteps; ++number) loss = step(device, loader, number);
  TRACE_INFO("done", loss);
  return loss;
}

}  // namespace train

int main(int argc, char** argv) {
  (void)examples::is_time_simulated;
  std::string const dir = argc > 1 ? argv[1] : "profiles";
  train::Device device;
  tracing::ProfileResult profile;
  double const loss = tracing::with_profiler(
      dir, [&] { return train::epoch(device); }, {.run = "example", .host_name = "machine", .print = false}, &profile);
  std::printf("loss %.2f\n", loss);
  if (!profile.ok()) std::printf("%s\n", profile.error.c_str());
  std::printf("wrote %zu files to %s/plugins/profile/example\n", profile.files.size(), dir.c_str());

  auto const forward = [&] {
    train::forward(device, 0);
    device.wait();
  };
  auto const runs = tracing::profile(forward, {.warmup = 1, .repeat = 5});
  std::printf("%s", runs.to_string().c_str());
}
