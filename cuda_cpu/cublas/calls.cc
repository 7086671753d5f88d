// The calls of cuBLAS that compute or copy.
#define TRACE_TARGET "tracing::cuda::cublas"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <optional>

#include "cuda_cpu/cublas/gemm.h"
#include "cuda_cpu/cublas/matrices.h"
#include "cuda_cpu/cublas/vectors.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::cublas;

namespace {

template <class T>
constexpr cublasComputeType_t kComputeOf = std::is_same_v<T, double>  ? CUBLAS_COMPUTE_64F
                                           : std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F
                                                                      : CUBLAS_COMPUTE_16F;

void gemm_ex(Call const& call, Gemm const& its, void const* alpha, void const* beta) {
  bool const is_on_device = call.context.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  cudaDataType const type = scale_type(its.compute);
  gemm(call, its, {is_on_device, "alpha", alpha, type}, {is_on_device, "beta", beta, type});
}

// A copy of a matrix between host and device.
struct Copy {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t element_bytes;
  cudaMemcpyKind kind;
  std::optional<cudaStream_t> stream = std::nullopt;  // none: the call waits
};

[[gnu::always_inline]] inline cublasStatus_t copy_matrix(
    Copy const& its, void const* from, std::int64_t from_ld, void* to, std::int64_t to_ld,
    cuda_cpu::process::Where const& where = cuda_cpu::process::Where::current()) {
  return call_without_handle(
      [&] {
        if (its.rows < 0 || its.columns < 0 || its.element_bytes <= 0)
          fail_invalid("a size is negative, or that of the elements is 0");
        check_leading_dimension("the leading dimension or increment of the source", from_ld, its.rows);
        check_leading_dimension("the leading dimension or increment of the target", to_ld, its.rows);
        if (its.rows == 0 || its.columns == 0) return;
        auto const bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count * its.element_bytes); };
        auto const columns = static_cast<std::size_t>(its.columns);
        cudaError_t const error =
            its.stream ? cudaMemcpy2DAsync(to, bytes(to_ld), from, bytes(from_ld), bytes(its.rows), columns, its.kind,
                                           *its.stream)
                       : cudaMemcpy2D(to, bytes(to_ld), from, bytes(from_ld), bytes(its.rows), columns, its.kind);
        if (error != cudaSuccess)
          throw CallError{CUBLAS_STATUS_MAPPING_ERROR, "the copy failed: " + std::string(cudaGetErrorName(error))};
      },
      where);
}

}  // namespace

#define CUBLAS_JOIN_NOW(a, b, c, d) a##b##c##d
#define CUBLAS_JOIN(a, b, c, d) CUBLAS_JOIN_NOW(a, b, c, d)
#define CUBLAS_QUOTE_NOW(text) #text
#define CUBLAS_QUOTE(text) CUBLAS_QUOTE_NOW(text)

// The beginning of a function: `cublasStatus_t cublasSgemm_v2_64` of `gemm_v2`, and `cublasIsamax_v2` of `amax_v2`.
#define CUBLAS_CALL(name) cublasStatus_t CUBLAS_JOIN(cublas, CUBLAS_LETTER, name, CUBLAS_SUFFIX)
#define CUBLAS_CALL_I(name) cublasStatus_t CUBLAS_JOIN(cublasI, CUBLAS_PREFIX, name, CUBLAS_SUFFIX)
// The span of a call, for its caller: `cublas_sgemm` of "gemm".
#define CUBLAS_SPAN(name, ...)             \
  cuda_cpu::cpu::CallerScope const caller; \
  TRACE_SPAN(trace, "cublas_" CUBLAS_QUOTE(CUBLAS_PREFIX) name, __VA_ARGS__)

extern "C" {

#define CUBLAS_SUFFIX
#define Int int
#include "cuda_cpu/cublas/all_calls.inc"
#undef Int
#undef CUBLAS_SUFFIX

#define CUBLAS_SUFFIX _64
#define Int std::int64_t
#include "cuda_cpu/cublas/all_calls.inc"
#undef Int
#undef CUBLAS_SUFFIX

}  // extern "C"
