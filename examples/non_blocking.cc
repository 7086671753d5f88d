// A separate thread writes the lines, so that the traced code does not wait for a slow file or terminal. Lines that do
// not fit into the queue are dropped and counted, and the output says how many.
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace {

// A terminal that was stopped with Ctrl-S.
class StoppedTerminal final : public tracing::LineSink {
 public:
  void write(tracing::Level, std::string_view line) noexcept override {
    std::unique_lock lock(mutex_);
    resumed_.wait(lock, [this] { return running_; });
    std::printf("%.*s", static_cast<int>(line.size()), line.data());
  }
  void resume() {
    std::lock_guard const lock(mutex_);
    running_ = true;
    resumed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable resumed_;
  bool running_ = false;
};

}  // namespace

int main() {
  auto const terminal = std::make_shared<StoppedTerminal>();
  auto const [sink, guard] = tracing::non_blocking(terminal, {.buffered_lines = 3});
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = tracing::to_sink(sink)}))
          .build());

  for (int step = 1; step <= 5; ++step) TRACE_INFO("working", step);
  std::printf("the work is done, %llu lines are dropped\n", static_cast<unsigned long long>(sink->dropped()));
  terminal->resume();
  sink->flush();
  TRACE_INFO("again in time");
}  // the guard waits until the rest is written
