// UserObject: something of the program that graphs keep alive.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::runtime {

/// Calls the program's function when neither the program nor a graph has a reference to it, and no launch of one runs.
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

}  // namespace cuda_cpu::runtime
