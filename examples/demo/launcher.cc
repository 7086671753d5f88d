#include "launcher.h"

#include <algorithm>

#include <tracing_core/tracing.h>

namespace demo {
namespace {

// Counts what the kernel would touch; only the part that is there is really touched.
std::size_t double_values(std::size_t count, std::span<int> data) {
  for (int& value : data.first(std::min(count, data.size()))) value *= 2;
  return count;
}

}  // namespace

std::size_t Launcher::launch(Launch launch, std::span<int> data) {
  return compiled(launch.kernel, launch.mode)(launch.count, data);
}

Launcher::Kernel const& Launcher::compiled(std::string_view kernel, Mode mode) {
  // The bug of the demo: a kernel is compiled for a mode, and the cache does not ask for which.
  auto found = cache_.find(kernel);
  if (found == cache_.end()) {
    Kernel body = double_values;
    if (mode == Mode::Checked) {
      body = [](std::size_t count, std::span<int> data) { return double_values(std::min(count, data.size()), data); };
    }
    found = cache_.emplace(kernel, std::move(body)).first;
  }
  return found->second;
}

}  // namespace demo
