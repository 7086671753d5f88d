// Kernels and copies of two streams that use the same memory, in each way that orders them; with an argument, without an order,
// which TRACE_CUDA_CHECK=race finds.
#include <atomic>
#include <cstring>

#include "check.h"

namespace {

constexpr int kCount = 64;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void produce(int* to, int value) { to[threadIdx.x] = value + static_cast<int>(threadIdx.x); }
__global__ void consume(int const* from, int* to) { to[threadIdx.x] = from[threadIdx.x] + 1; }
__global__ void count(int* counter) { atomicAdd(counter, 1); }

struct Fixture {
  Fixture() {
    CUDA(cudaMalloc(&numbers, kBytes));
    CUDA(cudaMalloc(&results, kBytes));
    CUDA(cudaMemset(numbers, 0, kBytes));
    CUDA(cudaMemset(results, 0, kBytes));
    for (auto* stream : {&first, &second}) CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA(cudaDeviceSynchronize());
  }
  ~Fixture() {
    CUDA(cudaEventDestroy(event));
    for (auto* stream : {first, second}) CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(numbers));
    CUDA(cudaFree(results));
  }
  void check_results(int value) {
    int on_host[kCount];
    CUDA(cudaMemcpyAsync(on_host, results, kBytes, cudaMemcpyDeviceToHost, second));
    CUDA(cudaStreamSynchronize(second));
    CHECK_EACH(on_host, kCount, [&](int i) { return value + i + 1; });
  }

  int *numbers = nullptr, *results = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
};

void by_an_event() {
  Fixture its;
  for (int round = 0; round < 3; ++round) {
    produce<<<1, kCount, 0, its.first>>>(its.numbers, round);
    CUDA(cudaEventRecord(its.event, its.first));
    CUDA(cudaStreamWaitEvent(its.second, its.event, 0));
    consume<<<1, kCount, 0, its.second>>>(its.numbers, its.results);
    CUDA(cudaEventRecord(its.event, its.second));
    CUDA(cudaStreamWaitEvent(its.first, its.event, 0));
  }
  its.check_results(2);
}

void by_the_host() {
  Fixture its;
  produce<<<1, kCount, 0, its.first>>>(its.numbers, 1);
  CUDA(cudaStreamSynchronize(its.first));
  consume<<<1, kCount, 0, its.second>>>(its.numbers, its.results);
  its.check_results(1);
  CUDA(cudaMemsetAsync(its.numbers, 0, kBytes, its.first));
  while (cudaStreamQuery(its.first) == cudaErrorNotReady) {
  }
  consume<<<1, kCount, 0, its.second>>>(its.numbers, its.results);
  CUDA(cudaDeviceSynchronize());
}

// A function of the host says that the first stream is done.
void by_a_host_function() {
  Fixture its;
  std::atomic<bool> is_done{false};
  produce<<<1, kCount, 0, its.first>>>(its.numbers, 7);
  CUDA(cudaLaunchHostFunc(
      its.first, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &is_done));
  while (!is_done) {
  }
  consume<<<1, kCount, 0, its.second>>>(its.numbers, its.results);
  its.check_results(7);
}

void by_the_default_stream() {
  Fixture its;
  cudaStream_t blocking = nullptr;
  CUDA(cudaStreamCreate(&blocking));
  produce<<<1, kCount, 0, blocking>>>(its.numbers, 4);
  consume<<<1, kCount>>>(its.numbers, its.results);
  produce<<<1, kCount, 0, blocking>>>(its.numbers, 5);
  CUDA(cudaDeviceSynchronize());
  its.check_results(4);
  CUDA(cudaStreamDestroy(blocking));
}

// Streams that share an allocation, but not its bytes, and that count by atomic operations.
void without_an_order() {
  Fixture its;
  produce<<<1, kCount / 2, 0, its.first>>>(its.numbers, 1);
  produce<<<1, kCount / 2, 0, its.second>>>(its.numbers + kCount / 2, 1);
  count<<<1, kCount, 0, its.first>>>(its.results);
  count<<<1, kCount, 0, its.second>>>(its.results);
  CUDA(cudaDeviceSynchronize());
  int counted = 0;
  CUDA(cudaMemcpy(&counted, its.results, sizeof counted, cudaMemcpyDeviceToHost));
  CHECK(counted == 2 * kCount);
}

int unordered(bool copies) {
  Fixture& its = *new Fixture;
  produce<<<1, kCount, 0, its.first>>>(its.numbers, 1);
  if (copies)
    CUDA(cudaMemcpyAsync(its.results, its.numbers, kBytes, cudaMemcpyDeviceToDevice, its.second));
  else
    consume<<<1, kCount, 0, its.second>>>(its.numbers, its.results);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return unordered(std::strcmp(argv[1], "copies") == 0);
  by_an_event();
  by_the_host();
  by_a_host_function();
  by_the_default_stream();
  without_an_order();
  return 0;
}
