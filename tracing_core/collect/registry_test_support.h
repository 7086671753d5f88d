// Journal: a layer that notes its calls, for tests of the registry.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"

namespace registry_test {

using tracing::Registry;
using tracing::RegistryBuilder;
using tracing::SpanRef;
using tracing::with_default;

inline std::string path_of(SpanRef span) {
  std::string path;
  for (; span; span = span.parent()) path = std::string(span.metadata().name()) + (path.empty() ? "" : "/" + path);
  return path;
}

// Adds a line for each call: "enter a/b".
class Journal final : public tracing::Layer {
 public:
  explicit Journal(std::vector<std::string>& lines, bool* destroyed = nullptr) : lines_(lines), destroyed_(destroyed) {}
  ~Journal() override {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }
  void on_new_span(SpanRef span, tracing::NewSpan const&, tracing::Context const&) noexcept override {
    add("new", span);
  }
  void on_record(SpanRef span, tracing::FieldValues const&, tracing::Context const&) noexcept override {
    add("record", span);
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    add("event", context.event_span(event));
  }
  void on_enter(SpanRef span, tracing::Context const&) noexcept override { add("enter", span); }
  void on_exit(SpanRef span, tracing::Context const&) noexcept override { add("exit", span); }
  void on_close(SpanRef span, tracing::Context const&) noexcept override { add("close", span); }

 private:
  void add(char const* what, SpanRef span) {
    std::lock_guard const lock(mutex_);
    lines_.push_back(std::string(what) + " " + path_of(span));
  }
  std::mutex mutex_;
  std::vector<std::string>& lines_;
  bool* destroyed_;
};

template <class F>
std::vector<std::string> journal_of(F&& f) {
  std::vector<std::string> lines;
  {
    auto const registry = RegistryBuilder().with(std::make_unique<Journal>(lines)).build();
    with_default(registry, f);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace registry_test
