// A custom layer: counts the events inside each span and prints the count when the span closes.
#include <atomic>
#include <cstdio>
#include <memory>

#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

// Layers are called from any thread: data that they keep with a span needs a lock or atomics.
class EventCounter final : public tracing::Layer {
 public:
  // The registry makes only these calls.
  tracing::Hooks hooks() const noexcept override {
    return tracing::Hooks::new_span | tracing::Hooks::event | tracing::Hooks::close;
  }
  void on_new_span(tracing::SpanRef span, tracing::NewSpan const&, tracing::Context const&) noexcept override {
    span.extensions().get_or_add<Count>();
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    for (tracing::SpanRef span = context.event_span(event); span; span = span.parent()) {
      span.extensions().get<Count>()->events.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void on_close(tracing::SpanRef span, tracing::Context const&) noexcept override {
    auto const name = span.metadata().name();
    std::printf("%.*s: %d events\n", static_cast<int>(name.size()), name.data(),
                span.extensions().get<Count>()->events.load());
  }

 private:
  struct Count {
    std::atomic<int> events{0};
  };
};

int main() {
  tracing::set_global_default(tracing::RegistryBuilder().with(std::make_unique<EventCounter>()).build());
  TRACE_SPAN(info, "outer");
  TRACE_INFO("one");
  for (int i = 0; i < 2; ++i) {
    TRACE_SPAN(info, "inner", i);
    TRACE_INFO("two");
    TRACE_DEBUG("three");
  }
}
