// DriverApi: the calls of the CUDA driver as a table of function pointers, filled from the driver by load_driver(), or
// by hand. Nothing here needs the driver in order to link or to start.
#pragma once

#include <cudaTypedefs.h>

#include "tracing_core/support/cxx20.h"

#if CUDA_VERSION < 12000
#error "tracing::cuda needs the headers of CUDA 12 or newer"
#endif

namespace tracing { inline namespace v1 { namespace cuda {

// X(member, symbol, version): the call, its name for cuGetProcAddress, and the version of CUDA that introduced the
// signature used here, which older drivers do not have.
#define TRACING_CUDA_BASIC_DRIVER_CALLS(X)                        \
  X(init, cuInit, 2000)                                           \
  X(driver_get_version, cuDriverGetVersion, 2020)                 \
  X(get_error_name, cuGetErrorName, 6000)                         \
  X(get_error_string, cuGetErrorString, 6000)                     \
  X(device_get_count, cuDeviceGetCount, 2000)                     \
  X(device_get, cuDeviceGet, 2000)                                \
  X(device_get_name, cuDeviceGetName, 2000)                       \
  X(device_get_attribute, cuDeviceGetAttribute, 2000)             \
  X(device_total_mem, cuDeviceTotalMem, 3020)                     \
  X(device_primary_ctx_retain, cuDevicePrimaryCtxRetain, 7000)    \
  X(device_primary_ctx_release, cuDevicePrimaryCtxRelease, 11000) \
  X(ctx_get_current, cuCtxGetCurrent, 4000)                       \
  X(ctx_set_current, cuCtxSetCurrent, 4000)                       \
  X(ctx_get_device, cuCtxGetDevice, 2000)                         \
  X(ctx_synchronize, cuCtxSynchronize, 2000)                      \
  X(module_load_data_ex, cuModuleLoadDataEx, 2010)                \
  X(module_unload, cuModuleUnload, 2000)                          \
  X(module_get_function, cuModuleGetFunction, 2000)               \
  X(module_get_global, cuModuleGetGlobal, 3020)                   \
  X(func_get_attribute, cuFuncGetAttribute, 2020)                 \
  X(func_set_attribute, cuFuncSetAttribute, 9000)                 \
  X(launch_kernel, cuLaunchKernel, 4000)                          \
  X(launch_cooperative_kernel, cuLaunchCooperativeKernel, 9000)   \
  X(launch_host_func, cuLaunchHostFunc, 10000)                    \
  X(mem_alloc, cuMemAlloc, 3020)                                  \
  X(mem_free, cuMemFree, 3020)                                    \
  X(mem_alloc_async, cuMemAllocAsync, 11020)                      \
  X(mem_free_async, cuMemFreeAsync, 11020)                        \
  X(mem_get_info, cuMemGetInfo, 3020)                             \
  X(mem_get_address_range, cuMemGetAddressRange, 3020)            \
  X(mem_host_alloc, cuMemHostAlloc, 2020)                         \
  X(mem_free_host, cuMemFreeHost, 2000)                           \
  X(mem_host_get_device_pointer, cuMemHostGetDevicePointer, 3020) \
  X(mem_host_register, cuMemHostRegister, 6050)                   \
  X(mem_host_unregister, cuMemHostUnregister, 4000)               \
  X(mem_alloc_managed, cuMemAllocManaged, 6000)                   \
  X(array_3d_create, cuArray3DCreate, 3020)                       \
  X(array_destroy, cuArrayDestroy, 2000)                          \
  X(memcpy_htod, cuMemcpyHtoD, 3020)                              \
  X(memcpy_dtoh, cuMemcpyDtoH, 3020)                              \
  X(memcpy_dtod, cuMemcpyDtoD, 3020)                              \
  X(memcpy_htod_async, cuMemcpyHtoDAsync, 3020)                   \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, 3020)                   \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync, 3020)                   \
  X(memcpy_3d, cuMemcpy3D, 3020)                                  \
  X(memcpy_3d_async, cuMemcpy3DAsync, 3020)                       \
  X(memset_d8, cuMemsetD8, 3020)                                  \
  X(memset_d32, cuMemsetD32, 3020)                                \
  X(memset_d8_async, cuMemsetD8Async, 3020)                       \
  X(memset_d32_async, cuMemsetD32Async, 3020)                     \
  X(memset_d2d8_async, cuMemsetD2D8Async, 3020)                   \
  X(memset_d2d16_async, cuMemsetD2D16Async, 3020)                 \
  X(memset_d2d32_async, cuMemsetD2D32Async, 3020)                 \
  X(stream_create, cuStreamCreate, 2000)                          \
  X(stream_destroy, cuStreamDestroy, 4000)                        \
  X(stream_synchronize, cuStreamSynchronize, 2000)                \
  X(stream_query, cuStreamQuery, 2000)                            \
  X(stream_wait_event, cuStreamWaitEvent, 3020)                   \
  X(stream_is_capturing, cuStreamIsCapturing, 10000)              \
  X(stream_get_id, cuStreamGetId, 12000)                          \
  X(event_create, cuEventCreate, 2000)                            \
  X(event_destroy, cuEventDestroy, 4000)                          \
  X(event_record, cuEventRecord, 2000)                            \
  X(event_query, cuEventQuery, 2000)                              \
  X(event_synchronize, cuEventSynchronize, 2000)                  \
  X(event_elapsed_time, cuEventElapsedTime, 2000)
// Calls that the table of the CPU backend lacks; its stand-in for the driver's library has them.
#define TRACING_CUDA_MORE_DRIVER_CALLS(X)                             \
  X(module_get_loading_mode, cuModuleGetLoadingMode, 11070)           \
  X(launch_kernel_ex, cuLaunchKernelEx, 11060)                        \
  X(library_load_data, cuLibraryLoadData, 12000)                      \
  X(library_unload, cuLibraryUnload, 12000)                           \
  X(library_get_kernel, cuLibraryGetKernel, 12000)                    \
  X(kernel_get_function, cuKernelGetFunction, 12000)                  \
  X(memcpy_2d, cuMemcpy2D, 3020)                                      \
  X(memcpy_2d_async, cuMemcpy2DAsync, 3020)                           \
  X(memcpy_peer, cuMemcpyPeer, 4000)                                  \
  X(memcpy_peer_async, cuMemcpyPeerAsync, 4000)                       \
  X(mem_pool_create, cuMemPoolCreate, 11020)                          \
  X(mem_pool_destroy, cuMemPoolDestroy, 11020)                        \
  X(mem_alloc_from_pool_async, cuMemAllocFromPoolAsync, 11020)        \
  X(stream_begin_capture, cuStreamBeginCapture, 10010)                \
  X(stream_end_capture, cuStreamEndCapture, 10000)                    \
  X(graph_get_nodes, cuGraphGetNodes, 10000)                          \
  X(graph_destroy, cuGraphDestroy, 10000)                             \
  X(graph_instantiate_with_flags, cuGraphInstantiateWithFlags, 11040) \
  X(graph_exec_destroy, cuGraphExecDestroy, 10000)                    \
  X(graph_launch, cuGraphLaunch, 10000)
#define TRACING_CUDA_DRIVER_CALLS(X) \
  TRACING_CUDA_BASIC_DRIVER_CALLS(X) \
  TRACING_CUDA_MORE_DRIVER_CALLS(X)

/// The driver's calls, each as documented in cuda.h. A plain value: copy it, replace single calls, or fill it by hand.
/// A null call is unavailable.
struct DriverApi {
#define TRACING_CUDA_MEMBER(member, symbol, version) PFN_##symbol##_v##version member = nullptr;
  TRACING_CUDA_DRIVER_CALLS(TRACING_CUDA_MEMBER)
#undef TRACING_CUDA_MEMBER
};

}}}  // namespace tracing::v1::cuda
