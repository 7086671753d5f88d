#include "cuda_cpu/graph/capture_calls.h"

#include <cuda_runtime_api.h>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/graph/graph_memory.h"

namespace cuda_cpu::graph {
namespace {

tracing::cuda::DriverApi plain;  // the table without captures; written once, before any call

void* pointer(CUdeviceptr address) noexcept { return reinterpret_cast<void*>(address); }

// Calls that give work to a stream.

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                       void** extra) {
  return enqueue(
      stream,
      [&](NodeParams& node) {
        return make_kernel_node(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                                arguments, extra, node.emplace<KernelNode>());
      },
      [&] {
        return plain.launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                   arguments, extra);
      });
}

CUresult launch_host_func(CUstream stream, CUhostFn function, void* data) {
  return enqueue(
      stream,
      [&](NodeParams& node) {
        node = HostNode{function, data};
        return function == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
      },
      [&] { return plain.launch_host_func(stream, function, data); });
}

template <class Work>
CUresult enqueue_copy(CUstream stream, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                      Work const& work) {
  return enqueue(
      stream,
      [&](NodeParams& node) {
        node = linear_copy(to, from, bytes, kind);
        return CUDA_SUCCESS;
      },
      work);
}
CUresult memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream) {
  return enqueue_copy(stream, pointer(to), from, bytes, cudaMemcpyHostToDevice,
                      [&] { return plain.memcpy_htod_async(to, from, bytes, stream); });
}
CUresult memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue_copy(stream, to, pointer(from), bytes, cudaMemcpyDeviceToHost,
                      [&] { return plain.memcpy_dtoh_async(to, from, bytes, stream); });
}
CUresult memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue_copy(stream, pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice,
                      [&] { return plain.memcpy_dtod_async(to, from, bytes, stream); });
}
CUresult memcpy_3d_async(CUDA_MEMCPY3D const* copy, CUstream stream) {
  return enqueue(
      stream, [&](NodeParams& node) { return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : make_copy(*copy, node); },
      [&] { return plain.memcpy_3d_async(copy, stream); });
}

template <class Work>
CUresult enqueue_fill(CUstream stream, cudaMemsetParams const& fill, Work const& work) {
  return enqueue(
      stream,
      [&](NodeParams& node) {
        node = MemsetNode{fill};
        return CUDA_SUCCESS;
      },
      work);
}
CUresult memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return enqueue_fill(stream, {pointer(to), 0, value, 1, count, 1},
                      [&] { return plain.memset_d8_async(to, value, count, stream); });
}
CUresult memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return enqueue_fill(stream, {pointer(to), 0, value, 4, count, 1},
                      [&] { return plain.memset_d32_async(to, value, count, stream); });
}
CUresult memset_d2d8_async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t columns,
                           std::size_t rows, CUstream stream) {
  return enqueue_fill(stream, {pointer(to), pitch, value, 1, columns, rows},
                      [&] { return plain.memset_d2d8_async(to, pitch, value, columns, rows, stream); });
}
CUresult memset_d2d16_async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t columns,
                            std::size_t rows, CUstream stream) {
  return enqueue_fill(stream, {pointer(to), pitch, value, 2, columns, rows},
                      [&] { return plain.memset_d2d16_async(to, pitch, value, columns, rows, stream); });
}
CUresult memset_d2d32_async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t columns, std::size_t rows,
                            CUstream stream) {
  return enqueue_fill(stream, {pointer(to), pitch, value, 4, columns, rows},
                      [&] { return plain.memset_d2d32_async(to, pitch, value, columns, rows, stream); });
}

CUresult mem_alloc_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return enqueue(
      stream,
      [&](NodeParams& node) {
        if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        auto allocation = GraphAllocation::make(bytes);
        if (allocation == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        *address = allocation->address;
        node = AllocNode{std::move(allocation)};
        return CUDA_SUCCESS;
      },
      [&] { return plain.mem_alloc_async(address, bytes, stream); });
}
// Also frees memory that a graph allocated and left to the program.
CUresult mem_free_async(CUdeviceptr address, CUstream stream) {
  auto const allocation = GraphAllocation::find(address);
  return enqueue(
      stream,
      [&](NodeParams& node) {
        node = FreeNode{allocation};
        return allocation != nullptr ? CUDA_SUCCESS
                                     : cpu::refuse(CUDA_ERROR_INVALID_VALUE,
                                                   "the memory that a graph frees has to be allocated by a graph");
      },
      [&]() -> CUresult {
        if (allocation == nullptr) return plain.mem_free_async(address, stream);
        if (CUresult const result = cpu::check_context(); result != CUDA_SUCCESS) return result;
        auto& device = *cpu::Device::get();
        auto const on = device.find_stream(stream);
        if (on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (!allocation->free()) return CUDA_ERROR_INVALID_VALUE;
        device.submit(on, [allocation] {});  // earlier work of the stream may use it
        return CUDA_SUCCESS;
      });
}

// Events, and waits for streams and events.

CUresult event_record(CUevent event, CUstream stream) {
  return record_event(event, stream, false, [&] { return plain.event_record(event, stream); });
}
CUresult stream_wait_event(CUstream stream, CUevent event, unsigned flags) {
  bool const is_external = flags == CU_EVENT_WAIT_EXTERNAL;
  unsigned const others = is_external ? 0 : flags;
  return wait_for_event(stream, event, is_external, [&] { return plain.stream_wait_event(stream, event, others); });
}
CUresult event_destroy(CUevent event) {
  forget_event(event);
  return plain.event_destroy(event);
}
CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  CaptureInfo info;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = has_captures() ? capture_info(stream, info) : CUDA_SUCCESS;  // fast, since each launch asks
  *status = static_cast<CUstreamCaptureStatus>(info.status);
  return result;
}

// Makes a call unless `check` failed.
template <class Call, class... Arguments>
CUresult unless(CUresult check, Call call, Arguments... arguments) {
  return check == CUDA_SUCCESS ? call(arguments...) : check;
}

// Graphs have no cooperative launches here.
CUresult launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** arguments) {
  return unless(check_not_captured(stream), plain.launch_cooperative_kernel, function, grid_x, grid_y, grid_z, block_x,
                block_y, block_z, shared_bytes, stream, arguments);
}

CUresult stream_synchronize(CUstream stream) { return unless(check_wait(stream), plain.stream_synchronize, stream); }
CUresult stream_query(CUstream stream) { return unless(check_wait(stream), plain.stream_query, stream); }
CUresult stream_destroy(CUstream stream) { return unless(check_destruction(stream), plain.stream_destroy, stream); }
CUresult event_query(CUevent event) { return unless(check_event(event), plain.event_query, event); }
CUresult event_synchronize(CUevent event) { return unless(check_event(event), plain.event_synchronize, event); }
CUresult event_elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  CUresult const result = check_event(start);
  return unless(result == CUDA_SUCCESS ? check_event(end) : result, plain.event_elapsed_time, milliseconds, start, end);
}
CUresult ctx_synchronize() { return unless(check_wait_for_all(), plain.ctx_synchronize); }

// Synchronous copies.

CUresult memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes) {
  return unless(check_synchronous("a synchronous copy"), plain.memcpy_htod, to, from, bytes);
}
CUresult memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes) {
  return unless(check_synchronous("a synchronous copy"), plain.memcpy_dtoh, to, from, bytes);
}
CUresult memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return unless(check_synchronous("a synchronous copy"), plain.memcpy_dtod, to, from, bytes);
}
CUresult memcpy_3d(CUDA_MEMCPY3D const* copy) {
  return unless(check_synchronous("a synchronous copy"), plain.memcpy_3d, copy);
}
CUresult memset_d8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return unless(check_synchronous("a synchronous memset"), plain.memset_d8, to, value, count);
}
CUresult memset_d32(CUdeviceptr to, unsigned value, std::size_t count) {
  return unless(check_synchronous("a synchronous memset"), plain.memset_d32, to, value, count);
}

// Allocations and registrations, which streams do not order.

CUresult mem_alloc(CUdeviceptr* address, std::size_t bytes) {
  return unless(check_unseen("an allocation"), plain.mem_alloc, address, bytes);
}
CUresult mem_free(CUdeviceptr address) {
  if (CUresult const result = check_unseen("a deallocation"); result != CUDA_SUCCESS) return result;
  auto const allocation = GraphAllocation::find(address);
  if (allocation == nullptr) return plain.mem_free(address);
  CUresult const result = plain.ctx_synchronize();
  return allocation->free() ? result : CUDA_ERROR_INVALID_VALUE;
}
CUresult mem_alloc_managed(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return unless(check_unseen("an allocation"), plain.mem_alloc_managed, address, bytes, flags);
}
CUresult mem_host_alloc(void** memory, std::size_t bytes, unsigned flags) {
  return unless(check_unseen("an allocation"), plain.mem_host_alloc, memory, bytes, flags);
}
CUresult mem_free_host(void* memory) { return unless(check_unseen("a deallocation"), plain.mem_free_host, memory); }
CUresult mem_host_register(void* memory, std::size_t bytes, unsigned flags) {
  return unless(check_unseen("a registration of memory"), plain.mem_host_register, memory, bytes, flags);
}
CUresult mem_host_unregister(void* memory) {
  return unless(check_unseen("a registration of memory"), plain.mem_host_unregister, memory);
}
CUresult array_3d_create(CUarray* array, CUDA_ARRAY3D_DESCRIPTOR const* descriptor) {
  return unless(check_unseen("an allocation"), plain.array_3d_create, array, descriptor);
}
CUresult array_destroy(CUarray array) { return unless(check_unseen("a deallocation"), plain.array_destroy, array); }

}  // namespace

tracing::cuda::DriverApi with_captures(tracing::cuda::DriverApi const& api) {
  plain = api;
  tracing::cuda::DriverApi its = api;
#define CUDA_CPU_REPLACE(call) its.call = call;
  CUDA_CPU_REPLACE(launch_kernel)
  CUDA_CPU_REPLACE(launch_cooperative_kernel)
  CUDA_CPU_REPLACE(launch_host_func)
  CUDA_CPU_REPLACE(memcpy_htod_async)
  CUDA_CPU_REPLACE(memcpy_dtoh_async)
  CUDA_CPU_REPLACE(memcpy_dtod_async)
  CUDA_CPU_REPLACE(memcpy_3d_async)
  CUDA_CPU_REPLACE(memset_d8_async)
  CUDA_CPU_REPLACE(memset_d32_async)
  CUDA_CPU_REPLACE(memset_d2d8_async)
  CUDA_CPU_REPLACE(memset_d2d16_async)
  CUDA_CPU_REPLACE(memset_d2d32_async)
  CUDA_CPU_REPLACE(mem_alloc_async)
  CUDA_CPU_REPLACE(mem_free_async)
  CUDA_CPU_REPLACE(event_record)
  CUDA_CPU_REPLACE(stream_wait_event)
  CUDA_CPU_REPLACE(event_destroy)
  CUDA_CPU_REPLACE(stream_is_capturing)
  CUDA_CPU_REPLACE(stream_synchronize)
  CUDA_CPU_REPLACE(stream_query)
  CUDA_CPU_REPLACE(stream_destroy)
  CUDA_CPU_REPLACE(event_query)
  CUDA_CPU_REPLACE(event_synchronize)
  CUDA_CPU_REPLACE(event_elapsed_time)
  CUDA_CPU_REPLACE(ctx_synchronize)
  CUDA_CPU_REPLACE(memcpy_htod)
  CUDA_CPU_REPLACE(memcpy_dtoh)
  CUDA_CPU_REPLACE(memcpy_dtod)
  CUDA_CPU_REPLACE(memcpy_3d)
  CUDA_CPU_REPLACE(memset_d8)
  CUDA_CPU_REPLACE(memset_d32)
  CUDA_CPU_REPLACE(mem_alloc)
  CUDA_CPU_REPLACE(mem_free)
  CUDA_CPU_REPLACE(mem_alloc_managed)
  CUDA_CPU_REPLACE(mem_host_alloc)
  CUDA_CPU_REPLACE(mem_free_host)
  CUDA_CPU_REPLACE(mem_host_register)
  CUDA_CPU_REPLACE(mem_host_unregister)
  CUDA_CPU_REPLACE(array_3d_create)
  CUDA_CPU_REPLACE(array_destroy)
#undef CUDA_CPU_REPLACE
  return its;
}

}  // namespace cuda_cpu::graph
