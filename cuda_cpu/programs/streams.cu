// Streams and events: what runs in order, what does not wait for what, and when.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

namespace {

__global__ void set(int* to, int value) { *to = value; }
__global__ void append(int* digits, int digit) { *digits = *digits * 10 + digit; }

// Work of a stream that lasts until the host lets it go. If nobody does, it ends after a while.
struct Gate {
  std::atomic<bool> is_open{false};
  std::atomic<bool> timed_out{false};

  static void CUDART_CB wait(void* gate) {
    auto& its = *static_cast<Gate*>(gate);
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!its.is_open && !its.timed_out) {
      if (std::chrono::steady_clock::now() > until) its.timed_out = true;
      std::this_thread::yield();
    }
  }
};

struct Fixture {
  int* values = nullptr;  // pinned
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;

  Fixture() {
    CUDA(cudaMallocHost(&values, 4 * sizeof(int)));
    for (int i = 0; i < 4; ++i) values[i] = 0;
    CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  ~Fixture() {
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaStreamDestroy(second));
    CUDA(cudaFreeHost(values));
  }
};

void a_stream_runs_in_order() {
  Fixture f;
  for (int digit = 1; digit <= 9; ++digit) append<<<1, 1, 0, f.first>>>(f.values, digit);
  CUDA(cudaStreamSynchronize(f.first));
  CHECK(f.values[0] == 123456789);
  CUDA(cudaStreamQuery(f.first));
}

void streams_do_not_wait_for_each_other() {
  Fixture f;
  Gate gate;
  set<<<1, 1, 0, f.second>>>(f.values, 1);  // loads the kernel
  CUDA(cudaStreamSynchronize(f.second));
  CUDA(cudaLaunchHostFunc(f.first, Gate::wait, &gate));
  set<<<1, 1, 0, f.first>>>(f.values, 2);
  cudaEvent_t after_gate = nullptr;
  CUDA(cudaEventCreate(&after_gate));
  CUDA(cudaEventRecord(after_gate, f.first));
  CHECK(cudaStreamQuery(f.first) == cudaErrorNotReady);
  CHECK(cudaEventQuery(after_gate) == cudaErrorNotReady);
  cudaGetLastError();

  set<<<1, 1, 0, f.second>>>(f.values + 1, 3);
  CUDA(cudaStreamSynchronize(f.second));  // returns though the first stream has not gone on
  CHECK(f.values[0] == 1 && f.values[1] == 3);

  gate.is_open = true;
  CUDA(cudaEventSynchronize(after_gate));
  CHECK(f.values[0] == 2 && !gate.timed_out);
  CUDA(cudaEventDestroy(after_gate));
}

void a_stream_waits_for_an_event() {
  Fixture f;
  Gate gate;
  cudaEvent_t written = nullptr;
  CUDA(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  CUDA(cudaLaunchHostFunc(f.first, Gate::wait, &gate));
  append<<<1, 1, 0, f.first>>>(f.values, 1);
  CUDA(cudaEventRecord(written, f.first));
  CUDA(cudaStreamWaitEvent(f.second, written, 0));
  append<<<1, 1, 0, f.second>>>(f.values, 2);
  CHECK(cudaStreamQuery(f.second) == cudaErrorNotReady);
  cudaGetLastError();
  gate.is_open = true;
  CUDA(cudaStreamSynchronize(f.second));
  CHECK(f.values[0] == 12);
  CUDA(cudaEventDestroy(written));
}

// The default stream waits for the streams that do not have cudaStreamNonBlocking, and they for it.
void the_default_stream_is_a_barrier() {
  Fixture f;
  Gate gate;
  cudaStream_t blocking = nullptr;
  CUDA(cudaStreamCreate(&blocking));
  CUDA(cudaLaunchHostFunc(blocking, Gate::wait, &gate));
  append<<<1, 1, 0, blocking>>>(f.values, 1);
  append<<<1, 1>>>(f.values, 2);
  append<<<1, 1, 0, blocking>>>(f.values, 3);
  CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  cudaGetLastError();
  gate.is_open = true;
  CUDA(cudaStreamSynchronize(blocking));
  CHECK(f.values[0] == 123);
  CUDA(cudaStreamDestroy(blocking));
}

void events_measure_time() {
  Fixture f;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CUDA(cudaEventRecord(begin, f.first));
  set<<<1, 1, 0, f.first>>>(f.values, 1);
  CUDA(cudaLaunchHostFunc(
      f.first, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }, nullptr));
  CUDA(cudaEventRecord(end, f.first));
  CUDA(cudaEventRecord(untimed, f.first));
  CUDA(cudaEventSynchronize(end));
  float milliseconds = 0;
  CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 5);
  CUDA(cudaEventSynchronize(untimed));
  CUDA_FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, begin, untimed));
  cudaGetLastError();
  for (cudaEvent_t const event : {begin, end, untimed}) CUDA(cudaEventDestroy(event));
}

// Host functions and copies are work of a stream like kernels.
void host_functions_run_in_order() {
  Fixture f;
  int* const device_value = f.values + 1;
  set<<<1, 1, 0, f.first>>>(device_value, 20);
  CUDA(cudaLaunchHostFunc(
      f.first, [](void* values) { static_cast<int*>(values)[1] += 1; }, f.values));
  append<<<1, 1, 0, f.first>>>(device_value, 5);
  CUDA(cudaMemcpyAsync(f.values + 2, device_value, sizeof(int), cudaMemcpyDefault, f.first));
  CUDA(cudaMemsetAsync(device_value, 0, sizeof(int), f.first));
  CUDA(cudaStreamAddCallback(
      f.first,
      [](cudaStream_t, cudaError_t status, void* values) {
        static_cast<int*>(values)[3] = status == cudaSuccess ? 7 : -1;
      },
      f.values, 0));
  CUDA(cudaStreamSynchronize(f.first));
  CHECK(f.values[1] == 0 && f.values[2] == 215 && f.values[3] == 7);
}

}  // namespace

int main() {
  a_stream_runs_in_order();
  streams_do_not_wait_for_each_other();
  a_stream_waits_for_an_event();
  the_default_stream_is_a_barrier();
  events_measure_time();
  host_functions_run_in_order();
}
