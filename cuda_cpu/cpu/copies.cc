// Implements the calls that copy and set memory. Copies within the device and of pinned memory are asynchronous;
// pageable host memory is read or written before the call returns, as by the driver.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "cuda_cpu/cpu/device.h"

namespace cuda_cpu::cpu {
namespace {

using tracing::cuda::ActivityKind;

std::uintptr_t address_of(void const* memory) noexcept { return reinterpret_cast<std::uintptr_t>(memory); }

// The source or the target of a copy. Keeps the memory alive until the copy is done.
struct End {
  void* memory = nullptr;
  bool is_known = false;  // memory of the device, or pinned memory
  std::shared_ptr<std::byte> storage;
  std::shared_ptr<WrittenBytes> written;  // null: the writes are not tracked

  // For Checks::init. Called when the copy runs, so that a kernel that runs before it and reads the memory is reported.
  void mark_written(std::size_t bytes) const noexcept {
    if (written != nullptr) written->set(reinterpret_cast<std::uintptr_t>(memory), bytes);
  }
};

End end_at(Device& device, std::uintptr_t address, std::size_t bytes) {
  auto range = device.memory.find(address, bytes);
  if (!range) return {reinterpret_cast<void*>(address), false, nullptr, nullptr};
  return {reinterpret_cast<void*>(address), true, std::move(range->storage), std::move(range->written)};
}

void submit_copy(Device& device, Streams::Handle const& stream, ActivityKind kind, End const& target, End const& source,
                 std::size_t bytes) {
  device.submit(stream, reporting(kind, bytes, [&device, target, source, bytes] {
                  device.note_copy("a copy", target.memory, source.memory, bytes);
                  std::memmove(target.memory, source.memory, bytes);
                  WrittenBytes::copy(target.written.get(), target.memory, source.written.get(), source.memory, bytes);
                }));
}

CUresult copy_in(Device& device, CUdeviceptr to, void const* from, std::size_t bytes, Streams::Handle const& stream,
                 bool waits) {
  if (bytes == 0) return CUDA_SUCCESS;
  auto const target = end_at(device, to, bytes);
  if (!target.is_known) return refuse_range("target", to, bytes);
  if (from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (waits) {
    auto const copy = reporting(ActivityKind::memcpy_htod, bytes, [&] {
      device.note_copy("a copy", target.memory, nullptr, bytes);
      std::memmove(target.memory, from, bytes);
      target.mark_written(bytes);
    });
    device.streams.run(stream, [&] {
      if (device.sticky() == CUDA_SUCCESS) copy();
    });
    device.prints.flush();
    return device.sticky();
  }
  auto const source = end_at(device, address_of(from), bytes);
  if (source.is_known || this_thread().copies_in_turn) {
    submit_copy(device, stream, ActivityKind::memcpy_htod, target, source, bytes);
    return CUDA_SUCCESS;
  }
  auto const* const begin = static_cast<std::byte const*>(from);
  auto copy = [&device, target, staged = std::vector<std::byte>(begin, begin + bytes)] {
    device.note_copy("a copy", target.memory, nullptr, staged.size());
    std::memcpy(target.memory, staged.data(), staged.size());
    target.mark_written(staged.size());
  };
  device.submit(stream, reporting(ActivityKind::memcpy_htod, bytes, std::move(copy)));
  return CUDA_SUCCESS;
}

CUresult copy_out(Device& device, void* to, CUdeviceptr from, std::size_t bytes, Streams::Handle const& stream,
                  bool waits) {
  if (bytes == 0) return CUDA_SUCCESS;
  auto const source = end_at(device, from, bytes);
  if (!source.is_known) return refuse_range("source", from, bytes);
  if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto const target = end_at(device, address_of(to), bytes);
  if (waits || !(target.is_known || this_thread().copies_in_turn)) {
    auto const copy = reporting(ActivityKind::memcpy_dtoh, bytes, [&] {
      device.note_copy("a copy", nullptr, source.memory, bytes);
      std::memmove(to, source.memory, bytes);
    });
    device.streams.run(stream, [&] {
      if (device.sticky() == CUDA_SUCCESS) copy();
    });
    device.prints.flush();
    return device.sticky();
  }
  submit_copy(device, stream, ActivityKind::memcpy_dtoh, target, source, bytes);
  return CUDA_SUCCESS;
}

CUresult copy_within(Device& device, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                     Streams::Handle const& stream) {
  if (bytes == 0) return CUDA_SUCCESS;
  auto const target = end_at(device, to, bytes);
  auto const source = end_at(device, from, bytes);
  if (!target.is_known) return refuse_range("target", to, bytes);
  if (!source.is_known) return refuse_range("source", from, bytes);
  submit_copy(device, stream, ActivityKind::memcpy_dtod, target, source, bytes);
  return CUDA_SUCCESS;
}

template <class T>
CUresult fill(Device& device, CUdeviceptr to, T value, std::size_t count, Streams::Handle const& stream) {
  if (count == 0) return CUDA_SUCCESS;
  if (to % sizeof(T) != 0) return refuse(CUDA_ERROR_INVALID_VALUE, "the target is not aligned");
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) return CUDA_ERROR_INVALID_VALUE;
  auto const target = end_at(device, to, count * sizeof(T));
  if (!target.is_known) return refuse_range("target", to, count * sizeof(T));
  device.submit(stream, reporting(ActivityKind::memset, count * sizeof(T), [&device, target, value, count] {
                  device.note_copy("a memset", target.memory, nullptr, count * sizeof(T));
                  std::fill_n(static_cast<T*>(target.memory), count, value);
                  target.mark_written(count * sizeof(T));
                }));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult refuse_range(char const* what, CUdeviceptr address, std::size_t bytes) {
  std::string const where = Device::get()->memory.describe(address, bytes);
  return refuse_memory(fmt::format("the {}, {} bytes at {:#x}, is not within one allocation{}{}", what, bytes, address,
                                   where.empty() ? "" : ": ", where));
}

CUresult memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes) {
  return on_stream(nullptr,
                   [&](Device& device, auto& stream) { return copy_in(device, to, from, bytes, stream, true); });
}
CUresult memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes) {
  return on_stream(nullptr,
                   [&](Device& device, auto& stream) { return copy_out(device, to, from, bytes, stream, true); });
}
CUresult memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return on_stream(nullptr, [&](Device& device, auto& stream) { return copy_within(device, to, from, bytes, stream); });
}
CUresult memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream handle) {
  return on_stream(handle,
                   [&](Device& device, auto& stream) { return copy_in(device, to, from, bytes, stream, false); });
}
CUresult memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  return on_stream(handle,
                   [&](Device& device, auto& stream) { return copy_out(device, to, from, bytes, stream, false); });
}
CUresult memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  return on_stream(handle, [&](Device& device, auto& stream) { return copy_within(device, to, from, bytes, stream); });
}

CUresult memset_d8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return on_stream(nullptr, [&](Device& device, auto& stream) { return fill(device, to, value, count, stream); });
}
CUresult memset_d32(CUdeviceptr to, unsigned value, std::size_t count) {
  return on_stream(nullptr, [&](Device& device, auto& stream) { return fill(device, to, value, count, stream); });
}
CUresult memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream handle) {
  return on_stream(handle, [&](Device& device, auto& stream) { return fill(device, to, value, count, stream); });
}
CUresult memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream handle) {
  return on_stream(handle, [&](Device& device, auto& stream) { return fill(device, to, value, count, stream); });
}

}  // namespace cuda_cpu::cpu
