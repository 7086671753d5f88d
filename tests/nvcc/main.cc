// The host program: prints the records of the CUDA source.
#include <tracing_core/setup.h>

#include "kernels.h"

int main() {
  tracing::FormatOptions options;
  options.timer = nullptr;
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.event_format = tracing::make_event_format(options),
                                      .writer = tracing::to_sink(tracing::FdSink::duplicate_of(1))}))
          .build());
  gpu::work();
}
