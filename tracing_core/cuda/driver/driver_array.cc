// The methods of Driver for arrays.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::memory"
#include <algorithm>
#include <optional>
#include <string_view>

#include "tracing_core/cuda/driver/driver_state.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

struct Format {
  std::string_view name;
  std::size_t bytes;  // of a channel
};

// Returns nothing for compressed and planar formats, whose elements have no size of their own.
std::optional<Format> format_of(CUarray_format format) noexcept {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: return Format{"uint8", 1};
    case CU_AD_FORMAT_UNSIGNED_INT16: return Format{"uint16", 2};
    case CU_AD_FORMAT_UNSIGNED_INT32: return Format{"uint32", 4};
    case CU_AD_FORMAT_SIGNED_INT8: return Format{"int8", 1};
    case CU_AD_FORMAT_SIGNED_INT16: return Format{"int16", 2};
    case CU_AD_FORMAT_SIGNED_INT32: return Format{"int32", 4};
    case CU_AD_FORMAT_HALF: return Format{"half", 2};
    case CU_AD_FORMAT_FLOAT: return Format{"float", 4};
    default: return std::nullopt;
  }
}

}  // namespace

// The field `bytes` is the size of the elements; a driver may pad an array.
CUresult Driver::array_3d_create(CUarray* array, CUDA_ARRAY3D_DESCRIPTOR const& descriptor, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  auto const& [width, height, depth, format, channels, flags] = descriptor;
  auto const known = format_of(format);
  std::size_t const elements = width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1);
  Span const span =
      TRACE_MAKE_SPAN(trace, "array_3d_create", width, height, depth,
                      tracing::kv("format", known ? std::optional(known->name) : std::nullopt), channels, flags,
                      tracing::kv("bytes", known ? std::optional(elements * channels * known->bytes) : std::nullopt),
                      tracing::kv("device", state_->device.load()), tracing::kv("pointer", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = state_->api.array_3d_create(array, &descriptor);
  if (result == CUDA_SUCCESS) {
    auto const* const pointer = static_cast<void const*>(*array);
    TRACE_TRACE("allocated", pointer);
    span.record(tracing::kv("pointer", pointer));
  }
  return state_->check(result, "cuArray3DCreate({} x {} x {} elements)", width, height, depth);
}

CUresult Driver::array_destroy(CUarray array, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "array_destroy", tracing::kv("pointer", static_cast<void const*>(array)),
             tracing::kv("device", state_->device.load()));
  CUresult const result = state_->api.array_destroy(array);
  if (result == CUDA_SUCCESS) TRACE_TRACE("freed");
  return check(result, "cuArrayDestroy()");
}

}}}  // namespace tracing::v1::cuda
