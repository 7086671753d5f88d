#include "cuda_cpu/process/channels.h"

#include <array>

namespace cuda_cpu::process {
namespace {

struct Format {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr std::array kFormats{
    Format{CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    Format{CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    Format{CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    Format{CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    Format{CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    Format{CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    Format{CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    Format{CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

}  // namespace

bool to_driver(cudaChannelFormatDesc const& channels, CUarray_format& format, unsigned& count) {
  count = 0;
  for (int const bits : {channels.x, channels.y, channels.z, channels.w}) {
    if (bits != 0 && bits != channels.x) return false;
    count += bits != 0 ? 1 : 0;
  }
  for (Format const& row : kFormats) {
    if (row.kind != channels.f || row.bits != channels.x) continue;
    format = row.format;
    return true;
  }
  return false;
}

cudaChannelFormatDesc to_runtime(CUarray_format format, unsigned count) {
  cudaChannelFormatDesc out{0, 0, 0, 0, cudaChannelFormatKindNone};
  for (Format const& row : kFormats) {
    if (row.format != format) continue;
    out.f = row.kind;
    int* const bits[] = {&out.x, &out.y, &out.z, &out.w};
    for (unsigned i = 0; i < count; ++i) *bits[i] = row.bits;
  }
  return out;
}

}  // namespace cuda_cpu::process
