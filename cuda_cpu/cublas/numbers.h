// The types of elements that the stand-in for cuBLAS computes with, and the factors alpha and beta.
#pragma once

#include <cuda_fp16.h>
#include <fmt/format.h>
#include <library_types.h>

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_cpu/cublas/call.h"

namespace cuda_cpu::cublas {

template <class T>
inline constexpr cudaDataType kTypeOf = std::is_same_v<T, float>    ? CUDA_R_32F
                                        : std::is_same_v<T, double> ? CUDA_R_64F
                                                                    : CUDA_R_16F;

constexpr std::size_t size_of(cudaDataType type) noexcept {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}
constexpr bool is_known(cudaDataType type) noexcept {
  return type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

/// Calls `body` with a number of the type. REQUIRES: is_known(type).
template <class Body>
decltype(auto) with_type(cudaDataType type, Body const& body) {
  switch (type) {
    case CUDA_R_64F: return body(double());
    case CUDA_R_32F: return body(float());
    case CUDA_R_16F: return body(Eigen::half());
    default: return body(Eigen::bfloat16());
  }
}

/// alpha or beta. In the pointer mode of the host its value is that of the call, else that of when the work runs.
class Scalar {
 public:
  /// Throws CallError for a null pointer.
  Scalar(bool is_on_device, char const* name, void const* pointer, cudaDataType type) : name_(name), type_(type) {
    check_pointer(name, pointer);
    if (is_on_device)
      pointer_ = pointer;
    else
      value_ = value_at(pointer);
  }
  template <class T>
  Scalar(Call const& call, char const* name, T const* pointer)
      : Scalar(call.context.pointer_mode == CUBLAS_POINTER_MODE_DEVICE, name, pointer, kTypeOf<T>) {}

  double value(Access& access) const {
    if (pointer_ == nullptr) return value_;
    std::size_t const bytes = size_of(type_);
    return value_at(access.read({name_, pointer_, bytes, 1, 1, 1}));
  }

 private:
  double value_at(void const* memory) const {
    return with_type(type_, [&](auto number) {
      std::memcpy(&number, memory, sizeof number);
      return static_cast<double>(number);
    });
  }

  char const* name_;
  cudaDataType type_;
  void const* pointer_ = nullptr;  // null: the value is known
  double value_ = 0;
};

}  // namespace cuda_cpu::cublas
