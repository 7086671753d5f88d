#include "cuda_cpu/cpu/images.h"

namespace cuda_cpu::cpu {

std::optional<ChannelFormat> find_format(CUarray_format format) noexcept {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: return ChannelFormat{Channel::unsigned_integer, 1};
    case CU_AD_FORMAT_UNSIGNED_INT16: return ChannelFormat{Channel::unsigned_integer, 2};
    case CU_AD_FORMAT_UNSIGNED_INT32: return ChannelFormat{Channel::unsigned_integer, 4};
    case CU_AD_FORMAT_SIGNED_INT8: return ChannelFormat{Channel::signed_integer, 1};
    case CU_AD_FORMAT_SIGNED_INT16: return ChannelFormat{Channel::signed_integer, 2};
    case CU_AD_FORMAT_SIGNED_INT32: return ChannelFormat{Channel::signed_integer, 4};
    case CU_AD_FORMAT_HALF: return ChannelFormat{Channel::floating, 2};
    case CU_AD_FORMAT_FLOAT: return ChannelFormat{Channel::floating, 4};
    default: return std::nullopt;
  }
}

}  // namespace cuda_cpu::cpu
