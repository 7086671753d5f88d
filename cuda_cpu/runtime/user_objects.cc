#include "cuda_cpu/graph/user_objects.h"

#include <map>
#include <memory>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime { namespace {

using tracing::support::MutexLock;

struct References {
  std::weak_ptr<UserObject> object;
  std::shared_ptr<UserObject> held;  // while the program has references
  unsigned count = 0;                // references of the program
};

struct UserObjects {
  std::map<cudaUserObject_t, References> all;
  std::uintptr_t last = 0x7800'0000;
};

UserObjects& user_objects() TRACING_REQUIRES(graphs_mutex) {
  static auto& its = *new UserObjects;
  return its;
}

// Returns null if the object does not exist, or nothing refers to it any more.
References* find_object(cudaUserObject_t handle) TRACING_REQUIRES(graphs_mutex) {
  auto const found = user_objects().all.find(handle);
  return found == user_objects().all.end() || found->second.object.expired() ? nullptr : &found->second;
}

// Drops `count` references of the program. If none is left, returns the object, which the caller drops without the
// lock. REQUIRES: count <= its.count.
std::shared_ptr<UserObject> drop(References& its, unsigned count) {
  its.count -= count;
  return its.count == 0 ? std::move(its.held) : nullptr;
}

}}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* object, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  return call([&] {
    if (out == nullptr || destroy == nullptr || count == 0 || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    auto held = std::make_shared<UserObject>(object, destroy);
    MutexLock const lock(graphs_mutex);
    auto& all = user_objects().all;
    std::erase_if(all, [](auto const& entry) { return entry.second.object.expired(); });
    held->handle = *out = reinterpret_cast<cudaUserObject_t>(user_objects().last += 16);
    all[*out] = {held, held, count};
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return call([&] {
    MutexLock const lock(graphs_mutex);
    References* const its = find_object(handle);
    if (its == nullptr || count == 0) return cudaErrorInvalidValue;
    its->held = its->object.lock();
    its->count += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return call([&] {
    std::shared_ptr<UserObject> dropped;
    MutexLock const lock(graphs_mutex);
    References* const its = find_object(handle);
    if (its == nullptr || count == 0 || count > its->count) return cudaErrorInvalidValue;
    dropped = drop(*its, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count, unsigned flags) {
  return call([&] {
    auto const graph = find_graph(handle);
    std::shared_ptr<UserObject> dropped;
    MutexLock const lock(graphs_mutex);
    References* const its = find_object(object);
    bool const moves = flags == cudaGraphUserObjectMove;
    if (graph == nullptr || its == nullptr || count == 0 || (flags != 0 && !moves) || (moves && count > its->count))
      return cudaErrorInvalidValue;
    graph->user_objects[its->object.lock()] += count;
    if (moves) dropped = drop(*its, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count) {
  return call([&] {
    auto const graph = find_graph(handle);
    std::shared_ptr<UserObject> dropped;
    MutexLock const lock(graphs_mutex);
    References* const its = find_object(object);
    if (graph == nullptr || its == nullptr || count == 0) return cudaErrorInvalidValue;
    auto const found = graph->user_objects.find(its->object.lock());
    if (found == graph->user_objects.end() || count > found->second) return cudaErrorInvalidValue;
    found->second -= count;
    if (found->second != 0) return cudaSuccess;
    dropped = found->first;
    graph->user_objects.erase(found);
    return cudaSuccess;
  });
}

}  // extern "C"
