// A program that collects its records with a layer of its own, and reads a directive whose pattern needs RE2.
#include <cstdio>
#include <memory>

#include <tracing_core/filter/directive.h>
#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

namespace {

class CountingLayer : public tracing::Layer {
 public:
  explicit CountingLayer(int& events) : events_(events) {}
  void on_event(tracing::Event const&, tracing::Context const& context) noexcept override {
    if (context.current_span()) ++events_;
  }

 private:
  int& events_;
};

}  // namespace

int main() {
  int events = 0;
  auto const registry = tracing::RegistryBuilder().with(std::make_unique<CountingLayer>(events)).build();
  tracing::with_default(registry, [] {
    TRACE_SPAN(debug, "collect");
    TRACE_INFO("collected");
  });
  bool const pattern_read = tracing::Directive::parse("app[span{name=ker.*}]=debug").has_value();
  std::printf("%d event, pattern %s\n", events, pattern_read ? "read" : "not read");
  return events == 1 && pattern_read ? 0 : 1;
}
