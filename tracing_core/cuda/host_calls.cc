#include "tracing_core/cuda/host_calls.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracing::inline v1::cuda {
namespace {

struct Pending {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, HostCall> calls;  // by number
  std::uintptr_t last = 0;
};

Pending& pending() {
  static auto& instance = *new Pending;  // streams may call when the process ends
  return instance;
}

HostCall take(void* number) {
  std::lock_guard const lock(pending().mutex);
  auto const node = pending().calls.extract(reinterpret_cast<std::uintptr_t>(number));
  return node.empty() ? HostCall() : std::move(node.mapped());
}

}  // namespace

void* HostCalls::add(HostCall call) {
  std::lock_guard const lock(pending().mutex);
  pending().calls.emplace(++pending().last, std::move(call));
  return reinterpret_cast<void*>(pending().last);
}

void HostCalls::call(void* number) {
  HostCall const call = take(number);
  call.span.in_scope([&] { call.function(call.data); });
}

void HostCalls::remove(void* number) { static_cast<void>(take(number)); }

void HostCalls::close_spans(void const* owner) {
  std::vector<Span> closed;  // when the lock is given back: that may call layers
  std::lock_guard const lock(pending().mutex);
  for (auto& [number, call] : pending().calls) {
    if (call.owner == owner) closed.push_back(std::exchange(call.span, Span()));
  }
}

}  // namespace tracing::inline v1::cuda
