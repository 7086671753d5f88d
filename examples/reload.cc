// A filter that is replaced while the program runs.
#include <tracing_core/tracing.h>

#include "collect.h"

void work(int round) {
  TRACE_INFO("working", round);
  TRACE_DEBUG("in detail", round);
}

int main() {
  auto [filter, handle] = tracing::reloadable(tracing::to_filter(tracing::EnvFilter("info")));
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.writer = examples::standard_output()}), std::move(filter))
          .build());
  work(1);
  handle.reload(tracing::to_filter(tracing::EnvFilter("debug")));
  work(2);
  handle.reload(tracing::to_filter(tracing::LevelFilter::off));
  work(3);
}
