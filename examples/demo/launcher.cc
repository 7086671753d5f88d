#include "launcher.h"

#include <algorithm>

namespace demo {
namespace {

// Counts what the kernel would touch; only the part that is there is really touched.
std::size_t double_values(std::size_t count, std::span<int> data) {
  for (int& value : data.first(std::min(count, data.size()))) value *= 2;
  return count;
}

}  // namespace

std::size_t Launcher::launch(Launch launch, std::span<int> data) {
  auto const [kernel, mode, count] = launch;
  TRACE_SPAN(debug, "launch", kernel, mode, count);
  std::size_t const touched = compiled(kernel, mode)(count, data);
  TRACE_DEBUG("kernel done", touched, tracing::kv("array", data.size()));
  return touched;
}

Launcher::Kernel const& Launcher::compiled(std::string_view kernel, Mode mode) {
  // The bug of the demo: a kernel is compiled for a mode, and the cache does not ask for which.
  auto found = cache_.find(kernel);
  if (found == cache_.end()) {
    TRACE_INFO("compiling kernel");
    Kernel body = double_values;
    if (mode == Mode::Checked) {
      body = [](std::size_t count, std::span<int> data) { return double_values(std::min(count, data.size()), data); };
    }
    found = cache_.emplace(kernel, std::move(body)).first;
  } else {
    TRACE_TRACE("taking the kernel from the cache", tracing::kv("cache.key", found->first));
  }
  return found->second;
}

}  // namespace demo
