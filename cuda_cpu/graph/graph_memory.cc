#include "cuda_cpu/graph/graph_memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/span_text.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::graph {
namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

struct Memory {
  Mutex mutex;
  std::map<CUdeviceptr, std::weak_ptr<GraphAllocation>> all TRACING_GUARDED_BY(mutex);
  std::map<CUdeviceptr, std::shared_ptr<GraphAllocation>> allocated TRACING_GUARDED_BY(mutex);
  GraphMemory sizes TRACING_GUARDED_BY(mutex);
};

Memory& memory() {
  static auto& its = *new Memory;
  return its;
}

}  // namespace

std::shared_ptr<GraphAllocation> GraphAllocation::make(std::size_t bytes) {
  auto& device = *cpu::Device::get();
  MemoryNote note = cpu::span_note("allocated for a graph");
  CUdeviceptr const address =
      device.memory.allocate(bytes, false, note.empty() ? MemoryNote("of a graph") : std::move(note));
  if (address == 0) return nullptr;
  if (device.options.checks.init) device.memory.track_writes(address);
  auto allocation = std::make_shared<GraphAllocation>(address, bytes);
  MutexLock const lock(memory().mutex);
  memory().all[address] = allocation;
  return allocation;
}

std::shared_ptr<GraphAllocation> GraphAllocation::find(CUdeviceptr address) {
  MutexLock const lock(memory().mutex);
  auto const found = memory().all.find(address);
  return found == memory().all.end() ? nullptr : found->second.lock();
}

GraphAllocation::GraphAllocation(CUdeviceptr its_address, std::size_t its_bytes)
    : address(its_address), bytes(its_bytes) {
  MutexLock const lock(memory().mutex);
  auto& sizes = memory().sizes;
  sizes.reserved += bytes;
  sizes.reserved_high = std::max(sizes.reserved_high, sizes.reserved);
}

GraphAllocation::~GraphAllocation() {
  {
    MutexLock const lock(memory().mutex);
    memory().all.erase(address);
    memory().sizes.reserved -= bytes;
  }
  cpu::Device::get()->memory.free(address, "freed with their graph");
}

bool GraphAllocation::allocate() {
  MutexLock const lock(memory().mutex);
  if (!memory().allocated.emplace(address, shared_from_this()).second) return false;
  auto& sizes = memory().sizes;
  sizes.used += bytes;
  sizes.used_high = std::max(sizes.used_high, sizes.used);
  return true;
}

bool GraphAllocation::free() {
  std::shared_ptr<GraphAllocation> last;  // may destroy this, without the lock
  MutexLock const lock(memory().mutex);
  auto const found = memory().allocated.find(address);
  if (found == memory().allocated.end()) return false;
  last = std::move(found->second);
  memory().allocated.erase(found);
  memory().sizes.used -= bytes;
  return true;
}

GraphMemory graph_memory() {
  MutexLock const lock(memory().mutex);
  return memory().sizes;
}

void reset_used_high() {
  MutexLock const lock(memory().mutex);
  memory().sizes.used_high = memory().sizes.used;
}

void reset_reserved_high() {
  MutexLock const lock(memory().mutex);
  memory().sizes.reserved_high = memory().sizes.reserved;
}

}  // namespace cuda_cpu::graph
