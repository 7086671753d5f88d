// For tests of device activity: a layer that prints activities in the order of their reports.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"

namespace tracing::cuda_test {

// Prints `GPU 0 stream 0: kernel 1000-3000`, and `launch -> kernel` for an activity that follows from a launch.
class ActivityLayer final : public Layer {
 public:
  explicit ActivityLayer(std::vector<std::string>& lines) : lines_(lines) {}

  void on_follows_from(SpanRef span, SpanRef cause, Context const&) noexcept override {
    add(std::string(cause.metadata().name()) + " -> " + std::string(span.metadata().name()));
  }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    if (context.is_dated()) begin_[span.id().value] = context.time();
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (context.is_dated())
      add(std::string(context.track().name) + ": " + std::string(span.metadata().name()) + " " +
          std::to_string(begin_[span.id().value].ns) + "-" + std::to_string(context.time().ns));
  }

 private:
  void add(std::string line) {
    std::lock_guard const lock(mutex_);
    lines_.push_back(std::move(line));
  }

  std::mutex mutex_;
  std::map<std::uint64_t, Instant> begin_;
  std::vector<std::string>& lines_;
};

/// Returns the activities that `f` reports.
template <class F>
std::vector<std::string> activity_of(F f) {
  std::vector<std::string> lines;
  with_default(RegistryBuilder().with(std::make_unique<ActivityLayer>(lines)).build(), f);
  return lines;
}

}  // namespace tracing::cuda_test
