// Keeps advice and prefetches of managed memory. All memory is the host's, so they change only what
// cudaMemRangeGetAttribute() returns later.
#include "cuda_cpu/runtime/memory_ranges.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::runtime {
namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

struct Ranges {
  Mutex mutex;
  // By the address where the advice begins, which holds until the next entry.
  std::map<std::uintptr_t, Advice> advice TRACING_GUARDED_BY(mutex) = {{0, Advice()}};

  // Begins an entry at the address.
  auto split(std::uintptr_t at) TRACING_REQUIRES(mutex) {
    auto const after = advice.upper_bound(at);
    return advice.emplace_hint(after, at, std::prev(after)->second);
  }
};

Ranges& ranges() {
  static auto& all = *new Ranges;  // never destroyed, for threads that run after main()
  return all;
}

// The numbers by which the attributes name a place.
int device_of(cudaMemLocation const& place) noexcept {
  return place.type == cudaMemLocationTypeDevice ? place.id
         : place.type == cudaMemLocationTypeHost ? cudaCpuDeviceId
                                                 : cudaInvalidDeviceId;
}

bool operator==(cudaMemLocation const& a, cudaMemLocation const& b) noexcept {
  return a.type == b.type && a.id == b.id;
}

// Calls visit(advice) for each part of the memory.
template <class Visit>
void each_advice(std::uintptr_t begin, std::size_t bytes, Visit const& visit) {
  Ranges& all = ranges();
  MutexLock const lock(all.mutex);
  auto const end = all.advice.lower_bound(begin + bytes);
  for (auto at = std::prev(all.advice.upper_bound(begin)); at != end; ++at) visit(at->second);
}

// Returns the place that all of the memory has, or no place.
cudaMemLocation common_place(std::uintptr_t begin, std::size_t bytes, cudaMemLocation Advice::*place) {
  std::optional<cudaMemLocation> common;
  bool is_same = true;
  each_advice(begin, bytes, [&](Advice const& advice) {
    is_same = is_same && (!common || *common == advice.*place);
    common = advice.*place;
  });
  return is_same && common ? *common : cudaMemLocation{};
}

bool holds_everywhere(std::uintptr_t begin, std::size_t bytes, bool Advice::*flag) {
  bool all = true;
  each_advice(begin, bytes, [&](Advice const& advice) { all = all && advice.*flag; });
  return all;
}

// Returns the value of an attribute that is one number, or nothing for another attribute.
std::optional<int> number(cudaMemRangeAttribute attribute, std::uintptr_t begin, std::size_t bytes) {
  auto const preferred = [&] { return common_place(begin, bytes, &Advice::preferred); };
  auto const prefetched = [&] { return common_place(begin, bytes, &Advice::prefetched); };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: return holds_everywhere(begin, bytes, &Advice::read_mostly) ? 1 : 0;
    case cudaMemRangeAttributePreferredLocation: return device_of(preferred());
    case cudaMemRangeAttributePreferredLocationType: return static_cast<int>(preferred().type);
    case cudaMemRangeAttributePreferredLocationId: return preferred().id;
    case cudaMemRangeAttributeLastPrefetchLocation: return device_of(prefetched());
    case cudaMemRangeAttributeLastPrefetchLocationType: return static_cast<int>(prefetched().type);
    case cudaMemRangeAttributeLastPrefetchLocationId: return prefetched().id;
    case cudaMemRangeAttributeAccessedBy: break;
  }
  return std::nullopt;
}

cudaError_t get(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute, std::uintptr_t begin,
                std::size_t bytes) {
  if (data == nullptr || data_bytes == 0 || data_bytes % sizeof(int) != 0) return cudaErrorInvalidValue;
  auto* const out = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    int* next = out;
    int* const end = std::fill_n(out, data_bytes / sizeof(int), int{cudaInvalidDeviceId});
    if (holds_everywhere(begin, bytes, &Advice::accessed_by_device)) *next++ = 0;
    if (next != end && holds_everywhere(begin, bytes, &Advice::accessed_by_host)) *next = cudaCpuDeviceId;
    return cudaSuccess;
  }
  auto const value = number(attribute, begin, bytes);
  if (!value || data_bytes != sizeof(int)) return cudaErrorInvalidValue;
  *out = *value;
  return cudaSuccess;
}

}  // namespace

void change_advice(void const* memory, std::size_t bytes, Change const& change) {
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  Ranges& all = ranges();
  MutexLock const lock(all.mutex);
  auto at = all.split(begin);
  auto const end = all.split(begin + bytes);
  for (; at != end; ++at) change(at->second);
}

cudaError_t check_managed(void const* memory, std::size_t bytes) {
  auto const info = cpu::pointer_info(memory);
  auto const offset = reinterpret_cast<CUdeviceptr>(memory) - info.begin;
  bool const is_within = info.owner == cpu::MemoryOwner::managed && bytes <= info.bytes - offset;
  return is_within ? cudaSuccess : refuse(cudaErrorInvalidValue, "the memory is not of one managed allocation");
}

}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute,
                                     void const* memory, std::size_t bytes) {
  return call([&]() -> cudaError_t {
    if (bytes == 0) return cudaErrorInvalidValue;
    if (cudaError_t const error = check_managed(memory, bytes); error != cudaSuccess) return error;
    return get(data, data_bytes, attribute, reinterpret_cast<std::uintptr_t>(memory), bytes);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, cudaMemRangeAttribute* attributes,
                                      std::size_t count, void const* memory, std::size_t bytes) {
  if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0)
    return call([]() -> cudaError_t { return cudaErrorInvalidValue; });
  for (std::size_t i = 0; i < count; ++i) {
    cudaError_t const error = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], memory, bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // extern "C"
