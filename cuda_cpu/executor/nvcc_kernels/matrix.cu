// Kernels that multiply matrices, as users write them. tools/renew_ptx.sh compiles them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// d = 2 * (a * b + c), where d is stored by column.
template <class T, class Sum, int kM, int kN, int kK, class LayoutA, class LayoutB>
__device__ void multiply(T const* a, T const* b, Sum const* c, Sum* d, int lda, int ldb, int ldc, int ldd) {
  wmma::fragment<wmma::matrix_a, kM, kN, kK, T, LayoutA> fragment_a;
  wmma::fragment<wmma::matrix_b, kM, kN, kK, T, LayoutB> fragment_b;
  wmma::fragment<wmma::accumulator, kM, kN, kK, Sum> sums;
  wmma::load_matrix_sync(fragment_a, a, lda);
  wmma::load_matrix_sync(fragment_b, b, ldb);
  wmma::load_matrix_sync(sums, c, ldc, wmma::mem_row_major);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] * Sum(2);
  wmma::store_matrix_sync(d, sums, ldd, wmma::mem_col_major);
}

#define MULTIPLY(name, T, Sum, M, N, K, layout_a, layout_b)                                                \
  extern "C" __global__ void name(T const* a, T const* b, Sum const* c, Sum* d, int lda, int ldb, int ldc, \
                                  int ldd) {                                                               \
    multiply<T, Sum, M, N, K, wmma::layout_a, wmma::layout_b>(a, b, c, d, lda, ldb, ldc, ldd);             \
  }

MULTIPLY(halves, __half, float, 16, 16, 16, row_major, col_major)
MULTIPLY(halves_to_halves, __half, __half, 16, 16, 16, row_major, row_major)
MULTIPLY(tall_halves, __half, float, 32, 8, 16, col_major, col_major)
MULTIPLY(bytes, signed char, int, 16, 16, 16, row_major, col_major)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MULTIPLY(bfloats, __nv_bfloat16, float, 16, 16, 16, row_major, col_major)
MULTIPLY(doubles, double, double, 8, 8, 4, row_major, col_major)

// d = a * b, all by row, of 16 x 8, 8 x 16 and 16 x 16 elements.
extern "C" __global__ void tf32(float const* a, float const* b, float* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fragment_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fragment_b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums;
  wmma::load_matrix_sync(fragment_a, a, 8);
  wmma::load_matrix_sync(fragment_b, b, 16);
  wmma::fill_fragment(sums, 0.f);
  for (int i = 0; i < fragment_a.num_elements; ++i) fragment_a.x[i] = wmma::__float_to_tf32(fragment_a.x[i]);
  for (int i = 0; i < fragment_b.num_elements; ++i) fragment_b.x[i] = wmma::__float_to_tf32(fragment_b.x[i]);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(d, sums, 16, wmma::mem_row_major);
}

// c = a * b by row, in tiles of 32 x 32 for each block of four warps, which copy the next tiles of a and b while they
// multiply. m and n are multiples of 32, k of 16.
extern "C" __global__ void tiled(__half const* a, __half const* b, float* c, int n, int k) {
  __shared__ alignas(16) __half tile_a[2][32][16 + 8];
  __shared__ alignas(16) __half tile_b[2][16][32 + 8];
  int const thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  int const row = blockIdx.y * 32, column = blockIdx.x * 32;
  auto const copy = [&](int stage, int at) {
    bool const is_a = thread < 64;
    int const i = thread % 64;
    __half const* const from = is_a ? a + (row + i / 2) * k + at + i % 2 * 8 : b + (at + i / 4) * n + column + i % 4 * 8;
    void* const to = is_a ? &tile_a[stage][i / 2][i % 2 * 8] : &tile_b[stage][i / 4][i % 4 * 8];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from));
    asm volatile("cp.async.commit_group;");
  };
  float sums[2][4] = {};
  copy(0, 0);
  for (int at = 0, stage = 0; at < k; at += 16, stage ^= 1) {
    if (at + 16 < k) {
      copy(stage ^ 1, at + 16);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    unsigned x[4], y[4];
    auto const place_a = __cvta_generic_to_shared(&tile_a[stage][warp / 2 * 16 + lane % 16][lane / 16 * 8]);
    auto const place_b = __cvta_generic_to_shared(&tile_b[stage][lane % 16][warp % 2 * 16 + lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(place_a)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                 : "r"(unsigned(place_b)));
    for (int half = 0; half < 2; ++half) {
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(sums[half][0]), "+f"(sums[half][1]), "+f"(sums[half][2]), "+f"(sums[half][3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[half * 2]), "r"(y[half * 2 + 1]));
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      int const at = row + warp / 2 * 16 + lane / 4 + i / 2 * 8;
      c[at * n + column + warp % 2 * 16 + half * 8 + lane % 4 * 2 + i % 2] = sums[half][i];
    }
  }
}
#endif
