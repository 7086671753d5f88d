#define TRACE_TARGET "cuda_tests::compute::command"
#include "cuda_tests/runtime/command.h"

#include <cstring>
#include <utility>

#include "cuda_tests/runtime/error.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {

SliceHandle Command::reserve(std::size_t size) {
  TRACE_SPAN(trace, "reserve", size);
  SliceHandle slice;
  CUresult const first = stream_.memory().reserve(size, slice);
  if (first == CUDA_ERROR_OUT_OF_MEMORY) {
    TRACE_WARN("device allocation of {} B failed ({}); reclaiming and retrying", size,
               tracing::cuda::error_name(first));
    reclaim();
    check(stream_.memory().reserve(size, slice), "cannot allocate device memory");
  } else {
    check(first, "cannot allocate device memory");
  }
  return slice;
}

void Command::reclaim() {
  for (auto const& [id, stream] : all_) {
    stream->synchronize();
    stream->memory().cleanup(true);
  }
}

Handle Command::empty(std::size_t size) {
  TRACE_SPAN(trace, "empty", size);
  Handle handle{nullptr, size, stream_.id()};
  if (size > 0) bind(handle, reserve(size));
  return handle;
}

void Command::bind(Handle& handle, SliceHandle reserved) {
  TRACE_SPAN(trace, "bind", tracing::kv("reserved", reserved->bytes), tracing::kv("new", handle.slice == nullptr));
  handle.slice = std::move(reserved);
}

PinnedBuffer Command::reserve_cpu(std::size_t size, bool marked_pinned, std::optional<StreamId> origin) {
  TRACE_SPAN(trace, "reserve_cpu", size, marked_pinned, origin);
  return reserve_pinned(size, origin);
}

PinnedBuffer Command::reserve_pinned(std::size_t size, std::optional<StreamId> origin) {
  TRACE_SPAN(trace, "reserve_pinned", size, origin);
  return stream_.take_pinned(size);
}

void Command::write_to_gpu(Handle const& handle, std::span<std::byte const> data, Shape const& shape,
                           std::size_t elem_size) {
  TRACE_SPAN(trace, "write_to_gpu", shape, elem_size);
  if (data.empty()) return;
  PinnedBuffer const buffer = reserve_pinned(data.size(), std::nullopt);
  std::memcpy(buffer.data, data.data(), data.size());
  CUresult const result = driver_.memcpy_htod_async(handle.address(), buffer.data, data.size(), stream_.get());
  stream_.give_back(buffer);
  check(result, "cannot write to the device");
}

std::vector<std::byte> Command::write_to_cpu(Handle const& handle, Shape const& shape, std::size_t elem_size) {
  TRACE_SPAN(trace, "write_to_cpu", shape, elem_size);
  if (handle.bytes == 0) return {};
  PinnedBuffer const buffer = reserve_cpu(handle.bytes, true, handle.stream);
  CUresult const result = driver_.memcpy_dtoh_async(buffer.data, handle.address(), handle.bytes, stream_.get());
  stream_.give_back(buffer);
  check(result, "cannot read from the device");
  stream_.synchronize();
  return {buffer.data, buffer.data + handle.bytes};
}

void Command::copy(Handle const& to, Handle const& from) {
  if (from.bytes == 0) return;
  check(driver_.memcpy_dtod_async(to.address(), from.address(), from.bytes, stream_.get()),
        "cannot copy on the device");
}

void Command::wait_for(Stream& other) {
  TRACE_DEBUG("Waiting on {} from {}", other.id().value, stream_.id().value);
  wait_for(Command(driver_, other, all_).record());
}

void Command::wait_for(CUevent event) {
  check(driver_.stream_wait_event(stream_.get(), event, 0), "cannot wait for an event");
}

CUevent Command::record() {
  check(driver_.event_record(stream_.event(), stream_.get()), "cannot record an event");
  return stream_.event();
}

}  // namespace cuda_tests
