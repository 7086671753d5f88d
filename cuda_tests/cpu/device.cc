#include "cuda_tests/cpu/device.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

namespace cuda_tests::cpu {
namespace {

std::mutex start_mutex;
CpuDriverOptions chosen_options;  // guarded by start_mutex
constinit std::atomic<Device*> device{nullptr};
constinit std::atomic<bool> is_forked_child{false};

bool is_set_in_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

CpuDriverOptions with_environment(CpuDriverOptions options) {
  options.block_statistics = options.block_statistics || is_set_in_environment("CUDA_TESTS_CPU_BLOCKS");
  options.instruction_spans = options.instruction_spans || is_set_in_environment("CUDA_TESTS_CPU_SPANS");
  return options;
}

Fault fault_saying(std::string message) {
  Fault fault;
  fault.message = std::move(message);
  return fault;
}

}  // namespace

void PrintBuffer::append(std::string_view text) {
  constexpr std::size_t kRoom = 1 << 20;  // as the driver's, which forgets the oldest
  std::lock_guard const lock(mutex_);
  text_ += text;
  if (text_.size() > kRoom) text_.erase(0, text_.size() - kRoom);
}

void PrintBuffer::flush() {
  std::lock_guard const lock(mutex_);
  if (text_.empty()) return;
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fflush(stdout);
  text_.clear();
}

Device::Device(CpuDriverOptions const& its_options)
    : options(with_environment(its_options)),
      launches_block(is_set_in_environment("CUDA_LAUNCH_BLOCKING")),
      memory(its_options.memory_bytes) {}

Device* Device::get() noexcept { return device.load(std::memory_order_acquire); }

CUresult Device::start(unsigned flags) {
  if (is_forked_child) return CUDA_ERROR_NOT_INITIALIZED;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard const lock(start_mutex);
  if (get() != nullptr) return CUDA_SUCCESS;
  pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; });
  device.store(new Device(chosen_options), std::memory_order_release);
  return CUDA_SUCCESS;
}

Executor& Device::executor() {
  std::call_once(executor_started_,
                 [this] { executor_ = std::make_unique<Executor>(Executor::Options{.workers = multiprocessors()}); });
  return *executor_;
}

unsigned Device::multiprocessors() const noexcept {
  if (options.workers != 0) return options.workers;
  auto const cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : cores;
}

void Device::fail(CpuDriverFault fault) {
  std::lock_guard const lock(fault_mutex_);
  if (fault_) return;  // the first is the cause of the others
  fault_ = std::move(fault);
  sticky_.store(fault_->code, std::memory_order_release);
  stop.request_stop();
}

std::optional<CpuDriverFault> Device::last_fault() const {
  std::lock_guard const lock(fault_mutex_);
  return fault_;
}

Streams::Handle Device::find_stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return streams.legacy();
  if (handle != CU_STREAM_PER_THREAD) return stream_handles.find(handle);
  auto& own = this_thread().stream;
  if (own == nullptr) own = streams.create(true);
  return own;
}

Mark Device::submit(Streams::Handle const& stream, std::function<void()> work) {
  return streams.submit(stream, [this, work = std::move(work)] {
    try {
      if (sticky() == CUDA_SUCCESS) work();
    } catch (std::exception const& thrown) {  // there is not enough memory for it
      fail({CUDA_ERROR_LAUNCH_FAILED, 0, nullptr, fault_saying(thrown.what())});
    } catch (...) {
      fail({CUDA_ERROR_LAUNCH_FAILED, 0, nullptr, fault_saying("an exception of an unknown type")});
    }
  });
}

Mark Device::submit_host_function(Streams::Handle const& stream, std::function<void()> function) {
  return streams.submit(stream, [this, function = std::move(function)]() noexcept {
    if (sticky() == CUDA_SUCCESS) function();
  });
}

CUresult Device::wait(std::vector<Mark> const& marks) {
  streams.wait(marks);
  prints.flush();
  return sticky();
}

void Device::clear() {
  streams.wait(streams.end_of_all());
  prints.flush();
  for (auto const& [handle, stream] : stream_handles.take_all()) streams.close(stream);
  events.take_all();
  functions.take_all();
  modules.take_all();
  std::lock_guard const lock(allocations_mutex);
  for (auto const& [address, ordered] : std::exchange(allocations, {})) memory.free(address);
  for (auto const& [address, held] : std::exchange(host_memory, {})) memory.unmap_host(held.get());
  pending_frees.clear();
}

ThreadState::~ThreadState() {
  if (stream != nullptr && !is_forked_child) Device::get()->streams.close(stream);
}

ThreadState& this_thread() noexcept {
  static thread_local ThreadState state;
  return state;
}

CUcontext primary_context() noexcept { return reinterpret_cast<CUcontext>(std::uintptr_t{0x01000000}); }

CUresult check_started() noexcept {
  if (Device::get() == nullptr || is_forked_child) return CUDA_ERROR_NOT_INITIALIZED;
  return this_thread().runs_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

CUresult check_context() noexcept {
  if (auto const result = check_started(); result != CUDA_SUCCESS) return result;
  if (this_thread().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (Device::get()->retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return Device::get()->sticky();
}

CUresult refuse(CUresult code, std::string message) {
  this_thread().last_message = std::move(message);
  return code;
}

}  // namespace cuda_tests::cpu

namespace cuda_tests {

using cpu::Device;

bool set_cpu_driver_options(CpuDriverOptions const& options) {
  std::lock_guard const lock(cpu::start_mutex);
  if (Device::get() != nullptr) return false;
  cpu::chosen_options = options;
  return true;
}

std::optional<CpuDriverFault> cpu_driver_last_fault() {
  return Device::get() == nullptr ? std::nullopt : Device::get()->last_fault();
}

std::string cpu_driver_last_message() { return cpu::this_thread().last_message; }

RunStatistics cpu_driver_statistics() {
  auto* const device = Device::get();
  if (device == nullptr) return {};
  std::lock_guard const lock(device->statistics_mutex);
  return device->statistics;
}

}  // namespace cuda_tests
