// Declares Error, the exception of the runtime.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "tracing_core/cuda/errors.h"

namespace cuda_tests {

/// A failed call of the driver; what() says which call and why.
class Error : public std::runtime_error {
 public:
  Error(CUresult code, std::string const& what)
      : std::runtime_error(what + ": " + tracing::cuda::error_text(code)), code_(code) {}
  CUresult code() const noexcept { return code_; }

 private:
  CUresult code_;
};

/// Throws unless `code` is CUDA_SUCCESS.
inline void check(CUresult code, char const* what) {
  if (code != CUDA_SUCCESS) throw Error(code, what);
}

}  // namespace cuda_tests
