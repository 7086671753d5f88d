// cuBLASLt: descriptions of products, and cublasLtMatmul() for matrices in columns.
#define TRACE_TARGET "tracing::cuda::cublas"
#include <cublasLt.h>
#include <cublas_v2.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "cuda_cpu/cublas/gemm.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::cublas;
using cuda_cpu::process::Where;

namespace {

// What the handles of descriptions stand for. Attributes have the types that cublasLt.h documents.
struct Layout {
  std::uint32_t type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t ld;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::int32_t batches = 1;
  std::int64_t batch_stride = 0;
};
struct Product {
  std::int32_t compute;
  std::int32_t scale;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t op_a = CUBLAS_OP_N;
  std::int32_t op_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void const* bias = nullptr;
  std::int32_t bias_type = -1;  // that of D
};

struct Attribute {
  void* memory = nullptr;
  std::size_t bytes = 0;
};
template <class T>
Attribute attribute(T& value) {
  return {&value, sizeof value};
}

Attribute find(Layout& its, int name) {
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return attribute(its.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return attribute(its.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return attribute(its.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return attribute(its.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD: return attribute(its.ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return attribute(its.batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return attribute(its.batch_stride);
    default: return {};
  }
}
Attribute find(Product& its, int name) {
  switch (name) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return attribute(its.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return attribute(its.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return attribute(its.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return attribute(its.op_a);
    case CUBLASLT_MATMUL_DESC_TRANSB: return attribute(its.op_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return attribute(its.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return attribute(its.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return attribute(its.bias_type);
    default: return {};
  }
}

// Returns what the handle of a description stands for.
template <class T>
T& at(char const* name, void* handle) {
  check_pointer(name, handle);
  return *static_cast<T*>(handle);
}

template <class T, class Handle>
[[gnu::always_inline]] inline cublasStatus_t create(Handle* handle, T const& value,
                                                    Where const& where = Where::current()) {
  return call_without_handle(
      [&] {
        check_pointer("the pointer to the result", handle);
        *handle = reinterpret_cast<Handle>(new T(value));
      },
      where);
}
template <class T>
cublasStatus_t destroy(void* handle) {
  delete static_cast<T*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
[[gnu::always_inline]] inline cublasStatus_t set_attribute(void* handle, int name, void const* value, std::size_t bytes,
                                                           Where const& where = Where::current()) {
  return call_without_handle(
      [&] {
        check_pointer("buf", value);
        Attribute const found = find(at<T>("the description", handle), name);
        if (found.memory == nullptr) fail_unsupported(fmt::format("attribute {}", name));
        if (found.bytes != bytes)
          fail_invalid(fmt::format("attribute {} has {} bytes, not {}", name, found.bytes, bytes));
        std::memcpy(found.memory, value, bytes);
      },
      where);
}

Matrix matrix_of(char const* name, void const* memory, Layout const& its) {
  if (its.order != CUBLASLT_ORDER_COL) fail_unsupported(fmt::format("order {} of {}", its.order, name));
  return {name, memory, static_cast<cudaDataType>(its.type), its.ld, its.batch_stride};
}

Epilogue epilogue_of(Product const& its, cudaDataType type) {
  constexpr std::uint32_t kKnown =
      CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_GELU | CUBLASLT_EPILOGUE_BIAS;
  if ((its.epilogue & ~kKnown) != 0) fail_unsupported(fmt::format("cublasLtEpilogue_t {}", its.epilogue));
  Epilogue epilogue;
  if ((its.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) epilogue.function = Epilogue::Function::relu;
  if ((its.epilogue & CUBLASLT_EPILOGUE_GELU) != 0) epilogue.function = Epilogue::Function::gelu;
  if ((its.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
    check_pointer("CUBLASLT_MATMUL_DESC_BIAS_POINTER", its.bias);
    epilogue.bias = its.bias;
    epilogue.bias_type = its.bias_type < 0 ? type : static_cast<cudaDataType>(its.bias_type);
    if (!is_known(epilogue.bias_type)) fail_unsupported(fmt::format("a bias of cudaDataType {}", its.bias_type));
  }
  return epilogue;
}

void check_shape(char const* name, Layout const& its, std::int32_t operation, std::uint64_t rows, std::uint64_t columns,
                 Layout const& result) {
  if (operation != CUBLAS_OP_N) std::swap(rows, columns);
  if (its.rows != rows || its.columns != columns)
    fail_invalid(fmt::format("{} is {} x {}, where {} x {} is needed", name, its.rows, its.columns, rows, columns));
  if (its.batches != result.batches)
    fail_invalid(fmt::format("{} has {} matrices, D has {}", name, its.batches, result.batches));
}

Gemm gemm_of(Product const& its, Layout const& a, Layout const& b, Layout const& c, Layout const& d) {
  std::uint64_t const k = its.op_a == CUBLAS_OP_N ? a.columns : a.rows;
  check_shape("A", a, its.op_a, d.rows, k, d);
  check_shape("B", b, its.op_b, k, d.columns, d);
  check_shape("C", c, CUBLAS_OP_N, d.rows, d.columns, d);
  Gemm gemm{static_cast<cublasOperation_t>(its.op_a),
            static_cast<cublasOperation_t>(its.op_b),
            static_cast<std::int64_t>(d.rows),
            static_cast<std::int64_t>(d.columns),
            static_cast<std::int64_t>(k),
            matrix_of("A", nullptr, a),
            matrix_of("B", nullptr, b),
            matrix_of("C", nullptr, c),
            matrix_of("D", nullptr, d),
            d.batches,
            false,
            static_cast<cublasComputeType_t>(its.compute)};
  if (its.scale != scale_type(gemm.compute))
    fail_unsupported(fmt::format("a scale type {} with cublasComputeType_t {}", its.scale, its.compute));
  if (its.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE)
    fail_unsupported(fmt::format("cublasLtPointerMode_t {}", its.pointer_mode));
  gemm.epilogue = epilogue_of(its, gemm.d.type);
  return gemm;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy_v2(reinterpret_cast<cublasHandle_t>(handle));
}
std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
std::size_t cublasLtGetCudartVersion() { return cublasGetCudartVersion(); }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) { return cublasGetProperty(type, value); }
char const* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
char const* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t ld) {
  return create(layout, Layout{static_cast<std::uint32_t>(type), rows, columns, ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy<Layout>(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
                                                void const* value, std::size_t bytes) {
  return set_attribute<Layout>(layout, name, value, bytes);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType scale) {
  return create(product, Product{compute, scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) { return destroy<Product>(product); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name,
                                              void const* value, std::size_t bytes) {
  return set_attribute<Product>(product, name, value, bytes);
}

// Nothing here needs what a program prefers, such as the size of the workspace.
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) { return create(preference, 0); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<int>(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    void const*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

// There is one algorithm, which needs no workspace.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int count,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  return call(reinterpret_cast<cublasHandle_t>(handle), [&](Call const&) {
    check_pointer("heuristicResultsArray", results);
    check_pointer("returnAlgoCount", found);
    if (count < 1) fail_invalid(fmt::format("requestedAlgoCount is {}", count));
    check_parameters(gemm_of(at<Product>("operationDesc", product), at<Layout>("Adesc", a), at<Layout>("Bdesc", b),
                             at<Layout>("Cdesc", c), at<Layout>("Ddesc", d)));
    results[0] = {};
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, void const* alpha, void const* a,
                              cublasLtMatrixLayout_t layout_a, void const* b, cublasLtMatrixLayout_t layout_b,
                              void const* beta, void const* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, cublasLtMatmulAlgo_t const*, void*, std::size_t,
                              cudaStream_t stream) {
  return call(reinterpret_cast<cublasHandle_t>(handle), [&](Call const& its) {
    Product const& description = at<Product>("computeDesc", product);
    Gemm gemm_ = gemm_of(description, at<Layout>("Adesc", layout_a), at<Layout>("Bdesc", layout_b),
                         at<Layout>("Cdesc", layout_c), at<Layout>("Ddesc", layout_d));
    gemm_.a.memory = a;
    gemm_.b.memory = b;
    gemm_.c.memory = c;
    gemm_.d.memory = d;
    TRACE_SPAN(trace, "cublaslt_matmul", tracing::kv("m", gemm_.m), tracing::kv("n", gemm_.n),
               tracing::kv("k", gemm_.k), tracing::kv("count", gemm_.batches),
               tracing::kv("epilogue", description.epilogue));
    bool const is_on_device = description.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    cudaDataType const type = scale_type(gemm_.compute);
    Context context = its.context;
    context.stream = stream;
    gemm({context, its.name}, gemm_, {is_on_device, "alpha", alpha, type}, {is_on_device, "beta", beta, type});
  });
}

}  // extern "C"
