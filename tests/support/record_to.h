// Declares record_to() and record_in_child(), which make recordings for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record.h"

namespace tracing_test {

/// Records what `f` does. Returns the path.
template <class F>
std::string record_to(tracing::RecordOptions const& options, F f) {
  auto [layer, error] = tracing::record_layer(options);
  EXPECT_FALSE(error) << error.message();
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), f);
  return options.path;
}

/// Records what `f` does in a child process, which `f` may kill. Returns the process id.
template <class F>
pid_t record_in_child(tracing::RecordOptions const& options, F f) {
  pid_t const child = fork();
  if (child == 0) {
    record_to(options, f);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return child;
}

}  // namespace tracing_test
