// output[x][y] = input[y][x], in tiles of 32 x 32, padded by a column, and blocks of 32 x 8 threads.
extern "C" __global__ void transpose(float const* input, float* output, int width, int height) {
  __shared__ float tile[32][33];
  int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  int y = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = input[(y + j) * width + x];
  __syncthreads();
  x = static_cast<int>(blockIdx.y * 32 + threadIdx.x);
  y = static_cast<int>(blockIdx.x * 32 + threadIdx.y);
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) output[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
