// Halves, bfloats and fp8 by the toolkit's headers, and the intrinsics for bytes of a word. Compiled to PTX by
// tools/renew_ptx.sh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void multiply_add(__nv_bfloat16* out, __nv_bfloat16 const* in) {
  int const i = threadIdx.x;
  out[i] = in[3 * i] * in[3 * i + 1] + in[3 * i + 2];
}

// The sum of a pair for each warp, by shuffles of pairs.
extern "C" __global__ void warp_sums(__nv_bfloat162* out, __nv_bfloat162 const* in, __half2* half_out, __half2 const* halves) {
  __nv_bfloat162 sum = in[threadIdx.x];
  __half2 half_sum = halves[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) {
    sum = __hadd2(sum, __shfl_down_sync(~0u, sum, distance));
    half_sum = __hadd2(half_sum, __shfl_xor_sync(~0u, half_sum, distance));
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
  half_out[threadIdx.x] = half_sum;
}

extern "C" __global__ void extremes(__nv_bfloat16* out, __nv_bfloat16 const* in, int n) {
  __nv_bfloat16 greatest = in[0], least = in[0];
  int below = 0;
  for (int i = 1; i < n; ++i) {
    greatest = __hmax(greatest, in[i]);
    least = __hmin(least, in[i]);
    below += in[i] < in[0] ? 1 : 0;
  }
  out[0] = greatest;
  out[1] = least;
  out[2] = __int2bfloat16_rn(below);
  out[3] = __hneg(__habs(in[0]));
}

extern "C" __global__ void count_atomically(__nv_bfloat16* total, __half2* pairs) {
  atomicAdd(total, __float2bfloat16(1));
  atomicAdd(pairs, __floats2half2_rn(1, 2));
}

extern "C" __global__ void quantize(__nv_fp8_e4m3* out, __nv_fp8x4_e5m2* quads, float4 const* in) {
  int const i = threadIdx.x;
  out[i] = __nv_fp8_e4m3(in[i].x);
  quads[i] = __nv_fp8x4_e5m2(in[i]);
}
extern "C" __global__ void dequantize(float* out, __nv_fp8_e4m3 const* in, __half* halves, __nv_fp8_e5m2 const* others) {
  int const i = threadIdx.x;
  out[i] = float(in[i]);
  halves[i] = __half(others[i]);
}

extern "C" __global__ void bytes_apart(unsigned* out, unsigned const* in) {
  int const i = threadIdx.x;
  out[3 * i] = __vabsdiffu4(in[2 * i], in[2 * i + 1]);
  out[3 * i + 1] = __vsadu4(in[2 * i], in[2 * i + 1]);
  out[3 * i + 2] = __vmaxs2(in[2 * i], in[2 * i + 1]);
}
