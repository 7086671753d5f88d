// half, bfloat16 and 8-bit floating point: arithmetic and conversions, compared with what their headers do on the host.
// Not with __hfma and rounding to an integer, which the host's versions round twice.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "host_values.h"

namespace {

using Half = __half;
using Bfloat16 = __nv_bfloat16;

using ::result;
__host__ __device__ U64 result(Half x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }
__host__ __device__ U64 result(Bfloat16 x) { return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x); }
__host__ __device__ Half h(U32 bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
__host__ __device__ Bfloat16 bf(U32 bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
__host__ __device__ float f(U32 bits) { return bits_of<float>(bits); }
__host__ __device__ __half2 pair(U32 bits) { return __halves2half2(h(bits), h(bits >> 16)); }

// clang-format off
#define HALVES(of) \
  of(__hadd(h(a), h(b))) of(__hsub(h(a), h(b))) of(__hmul(h(a), h(b))) of(__hdiv(h(a), h(b))) \
  of(__hadd_sat(h(a), h(b))) of(__hmax(h(a), h(b))) of(__hneg(h(a))) of(__habs(h(a))) \
  of(__low2half(__hadd2(pair(a), pair(b)))) of(__high2half(__hadd2(pair(a), pair(b)))) \
  of(__hlt(h(a), h(b))) of(__hge(h(a), h(b))) of(__hne(h(a), h(b))) of(__heq(h(a), h(b))) of(__hltu(h(a), h(b))) \
  of(__float2half_rn(f(a))) of(__float2half_rz(f(a))) of(__float2half_ru(f(a))) of(__float2half_rd(f(a))) \
  of(__double2half(f(a) * 1.0000001)) of(__int2half_rn(int(a))) of(__uint2half_rn(a)) of(__half2float(h(a))) \
  of(__half2int_rz(h(a)))

#define BFLOATS(of) \
  of(__hadd(bf(a), bf(b))) of(__hmul(bf(a), bf(b))) of(__hdiv(bf(a), bf(b))) of(__hlt(bf(a), bf(b))) \
  of(__heq(bf(a), bf(b))) of(__float2bfloat16_rn(f(a))) of(__float2bfloat16_rz(f(a))) \
  of(__int2bfloat16_rn(int(a))) of(__bfloat162float(bf(a))) of(__bfloat162int_rz(bf(a)))

#define BYTES(of) \
  of(__nv_cvt_float_to_fp8(f(a), __NV_SATFINITE, __NV_E4M3)) \
  of(__nv_cvt_float_to_fp8(f(a), __NV_SATFINITE, __NV_E5M2)) \
  of(__nv_cvt_float_to_fp8(f(a), __NV_NOSAT, __NV_E5M2)) \
  of(__nv_cvt_halfraw_to_fp8(__half_raw(h(a)), __NV_SATFINITE, __NV_E4M3)) \
  of(Half(__nv_cvt_fp8_to_halfraw(a & 255, __NV_E4M3))) of(Half(__nv_cvt_fp8_to_halfraw(a & 255, __NV_E5M2)))
// clang-format on

HOST_VALUES(halves, U32, HALVES)
HOST_VALUES(bfloats, U32, BFLOATS)
HOST_VALUES(bytes, U32, BYTES)

// Any bits, a number as float, or two numbers as half.
U32 operand(std::mt19937_64& random) {
  float const x =
      static_cast<float>(static_cast<int>(random() % 2000000) - 1000000) / static_cast<float>(1 << random() % 24);
  switch (random() % 3) {
    case 0:
      return static_cast<U32>(random());
    case 1:
      return bits_of<U32>(x);
    default:
      return __half_as_ushort(__float2half(x)) | static_cast<U32>(__half_as_ushort(__float2half(x / 3))) << 16;
  }
}

}  // namespace

int main() {
  compare_with_host(halves_texts, halves_kernel, halves, operand);
  compare_with_host(bfloats_texts, bfloats_kernel, bfloats, operand);
  compare_with_host(bytes_texts, bytes_kernel, bytes, operand);
}
