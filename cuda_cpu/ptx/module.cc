#include "cuda_cpu/ptx/module.h"

#include <algorithm>

namespace cuda_cpu::ptx {

Function const* Module::find_function(std::string_view name) const noexcept {
  auto const found = std::ranges::find(functions_, name, &Function::name);
  return found == functions_.end() ? nullptr : &*found;
}

Function const* Module::find_entry(std::string_view name) const noexcept {
  auto const* const found = find_function(name);
  return found != nullptr && found->is_entry && found->has_body ? found : nullptr;
}

Variable const* Module::find_variable(std::string_view name) const noexcept {
  auto const found = std::ranges::find(variables_, name, &Variable::name);
  return found == variables_.end() ? nullptr : &*found;
}

bool Function::fits(Prototype const& prototype) const noexcept {
  auto const same = [](Parameter const& a, Parameter const& b) {
    return a.size_bytes == b.size_bytes && a.align_bytes == b.align_bytes;
  };
  return std::ranges::equal(results, prototype.results, same) &&
         std::ranges::equal(parameters, prototype.parameters, same);
}

unsigned Function::registers_used() const noexcept {
  unsigned words = 0;
  for (auto const& one : registers) words += (size_bytes(one.type) + 3) / 4;
  return std::clamp(words, 8u, 64u);
}

unsigned Function::max_threads() const noexcept {
  unsigned threads = 1024;
  for (auto const& sizes : {max_ntid, req_ntid})
    if (sizes[0] != 0) threads = std::min(threads, sizes[0] * sizes[1] * sizes[2]);
  return threads;
}

}  // namespace cuda_cpu::ptx
