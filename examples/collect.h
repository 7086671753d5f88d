// What the examples have in common: a registry that prints to the standard output.
#pragma once

#include <memory>
#include <utility>

#include <tracing_core/setup.h>

namespace examples {

/// A writer to the standard output.
inline tracing::WriterPtr standard_output() { return tracing::to_sink(tracing::FdSink::duplicate_of(1)); }

/// Prints everything that `filter` lets pass, in the format full, on the standard output.
inline void print_everything(std::unique_ptr<tracing::Filter> filter = nullptr) {
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.writer = standard_output()}), std::move(filter))
          .build());
}

}  // namespace examples
