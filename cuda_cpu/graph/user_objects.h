// UserObject: an object of the program that graphs keep alive.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::graph {

/// Calls the program's function once the program and all graphs have dropped their references, and the launches of
/// these graphs have ended.
class UserObject {
 public:
  UserObject(void* its_object, cudaHostFn_t its_destroy) : object_(its_object), destroy_(its_destroy) {}
  UserObject(UserObject const&) = delete;
  UserObject& operator=(UserObject const&) = delete;
  ~UserObject() { destroy_(object_); }

  cudaUserObject_t handle = nullptr;

 private:
  void* const object_;
  cudaHostFn_t const destroy_;
};

}  // namespace cuda_cpu::graph
