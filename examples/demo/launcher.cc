#include "launcher.h"

#include <algorithm>

namespace demo {
namespace {

// Returns the number of elements that the kernel would touch; touches only the elements in the array.
std::size_t double_values(std::size_t count, std::span<int> data) {
  for (int& value : data.first(std::min(count, data.size()))) value *= 2;
  return count;
}

std::size_t double_values_checked(std::size_t count, std::span<int> data) {
  return double_values(std::min(count, data.size()), data);
}

}  // namespace

std::size_t Launcher::launch(Launch launch, std::span<int> data) {
  auto const [kernel, mode, count] = launch;
  TRACE_SPAN(debug, "launch", kernel, mode, count);
  std::size_t const touched = find_or_compile(kernel, mode).body(count, data);
  TRACE_DEBUG("kernel done", touched, tracing::kv("array", data.size()));
  return touched;
}

Launcher::Kernel const& Launcher::find_or_compile(std::string_view kernel, Mode mode) {
  // The bug of the demo: a kernel is compiled for a mode, but the key of the cache is only its name.
  auto found = cache_.find(kernel);
  if (found != cache_.end()) {
    TRACE_TRACE("cached", tracing::kv("compiled_for", found->second.compiled_for));
    return found->second;
  }
  TRACE_SPAN(debug, "compile");
  TRACE_INFO("compiling kernel");
  auto* const body = mode == Mode::Checked ? double_values_checked : double_values;
  return cache_.emplace(kernel, Kernel{mode, body}).first->second;
}

}  // namespace demo
