// For tests of the CPU backend: a context, memory, and a stream that is blocked.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_cpu/cpu/cpu_driver.h"

namespace cuda_cpu {

/// A test with its own context.
class CpuDriver : public ::testing::Test {
 protected:
  CpuDriver() {
    EXPECT_EQ(api.init(0), CUDA_SUCCESS);
    EXPECT_EQ(api.device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(api.ctx_set_current(context), CUDA_SUCCESS);
  }
  ~CpuDriver() override { EXPECT_EQ(api.device_primary_ctx_release(0), CUDA_SUCCESS); }

  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.mem_alloc(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  template <class T>
  T* allocate_pinned(std::size_t count = 1) {
    void* memory = nullptr;
    EXPECT_EQ(api.mem_host_alloc(&memory, count * sizeof(T), 0), CUDA_SUCCESS);
    return static_cast<T*>(memory);
  }
  CUstream make_stream(unsigned flags = CU_STREAM_DEFAULT) {
    CUstream stream = nullptr;
    EXPECT_EQ(api.stream_create(&stream, flags), CUDA_SUCCESS);
    return stream;
  }
  CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_EQ(api.event_create(&event, flags), CUDA_SUCCESS);
    return event;
  }
  int read(CUdeviceptr address) {
    int value = -1;
    EXPECT_EQ(api.memcpy_dtoh(&value, address, sizeof(value)), CUDA_SUCCESS);
    return value;
  }
  void write(CUdeviceptr address, int value) {
    EXPECT_EQ(api.memcpy_htod(address, &value, sizeof(value)), CUDA_SUCCESS);
  }

  tracing::cuda::DriverApi const api = cpu_driver_api();
  CUcontext context = nullptr;
};

/// Work at the end of a stream that waits until release().
class HeldUp {
 public:
  HeldUp(tracing::cuda::DriverApi const& api, CUstream stream) {
    auto const wait = [](void* data) {
      std::unique_ptr<std::shared_ptr<Flag>> const held(static_cast<std::shared_ptr<Flag>*>(data));
      (*held)->wait(true);
    };
    EXPECT_EQ(api.launch_host_func(stream, wait, new std::shared_ptr<Flag>(held_)), CUDA_SUCCESS);
  }
  HeldUp(HeldUp const&) = delete;
  HeldUp& operator=(HeldUp const&) = delete;
  ~HeldUp() { release(); }

  void release() {
    *held_ = false;
    held_->notify_all();
  }
  void release_after(std::chrono::milliseconds time) {
    later_ = std::jthread([this, time] {
      std::this_thread::sleep_for(time);
      release();
    });
  }

 private:
  using Flag = std::atomic<bool>;

  // A shared pointer, because the work may read it after this object is destroyed.
  std::shared_ptr<Flag> held_ = std::make_shared<Flag>(true);
  std::jthread later_;
};

/// Records the order in which host functions run.
struct Order {
  struct Step {
    Order* order;
    int number;
  };
  std::vector<int> numbers;
  std::mutex mutex;

  void add(tracing::cuda::DriverApi const& api, CUstream stream, int number) {
    auto const write = [](void* data) {
      std::unique_ptr<Step> const step(static_cast<Step*>(data));
      std::lock_guard const lock(step->order->mutex);
      step->order->numbers.push_back(step->number);
    };
    EXPECT_EQ(api.launch_host_func(stream, write, new Step{this, number}), CUDA_SUCCESS);
  }
};

}  // namespace cuda_cpu
