// Kernels that use textures and surfaces, as users write them. tools/renew_ptx.sh compiles them.

// Samples a signal at other places, and indexes a table with what it finds.
extern "C" __global__ void resample(cudaTextureObject_t signal, cudaTextureObject_t table, float step, float* out) {
  int const i = threadIdx.x;
  float const found = tex1D<float>(signal, i * step + 0.5f);
  out[i] = found + tex1Dfetch<float>(table, i / 4);
}

// The sum of the four texels around each corner, by texels and as gathered.
extern "C" __global__ void corners(cudaTextureObject_t image, int* out) {
  int const x = threadIdx.x, y = threadIdx.y;
  int const above = tex2D<int>(image, x - 1, y - 1) + tex2D<int>(image, x, y - 1);
  int const sum = above + tex2D<int>(image, x - 1, y) + tex2D<int>(image, x, y);
  int4 const all = tex2Dgather<int4>(image, x, y, 0);
  out[2 * (y * blockDim.x + x)] = sum;
  out[2 * (y * blockDim.x + x) + 1] = all.x + all.y + all.z + all.w;
}

// Averages layers into a surface of colors.
extern "C" __global__ void average(cudaTextureObject_t layers, int count, cudaSurfaceObject_t to) {
  int const x = threadIdx.x, y = threadIdx.y;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int layer = 0; layer < count; ++layer) {
    float4 const one = tex2DLayered<float4>(layers, x, y, layer);
    sum = make_float4(sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w);
  }
  float const scale = 255.0f / count;
  uchar4 const color = make_uchar4(scale * sum.x + 0.5f, scale * sum.y + 0.5f, scale * sum.z + 0.5f, 255);
  surf2Dwrite(color, to, x * sizeof(uchar4), y, cudaBoundaryModeZero);
}
