// Streams: their properties and attributes, and callbacks.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/support/mutex.h"

using namespace cuda_cpu::runtime;
using tracing::support::Mutex;
using tracing::support::MutexLock;

namespace {

struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

void CUDART_CB run(void* data) {
  std::unique_ptr<Callback> const callback(static_cast<Callback*>(data));
  callback->function(callback->stream, cudaSuccess, callback->data);
}

// Runs `body` with the number of the stream, which spans have, too. Returns an error if the stream does not exist.
template <class Body>
cudaError_t on_stream(cudaStream_t stream, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    unsigned long long id = 0;
    CUresult const result = driver().api().stream_get_id(stream_of(stream), &id);
    return result == CUDA_SUCCESS ? body(driver().number_of(stream_of(stream))) : to_error(result);
  });
}

template <class T>
cudaError_t give(T* out, T value) noexcept {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

// Hints for the hardware, which have no effect. Numbers of streams are never reused, so the hints are kept until the
// process ends.
struct SetAttributes {
  Mutex mutex;
  std::map<unsigned long long, std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue>> of_streams
      TRACING_GUARDED_BY(mutex);
};
SetAttributes& set_attributes() {
  static auto& its = *new SetAttributes;
  return its;
}

bool is_of_streams(cudaLaunchAttributeID attribute) noexcept {
  return attribute == cudaLaunchAttributeAccessPolicyWindow || attribute == cudaLaunchAttributeSynchronizationPolicy ||
         attribute == cudaLaunchAttributePriority || attribute == cudaLaunchAttributeMemSyncDomain ||
         attribute == cudaLaunchAttributeMemSyncDomainMap;
}

cudaError_t refuse_attribute(cudaLaunchAttributeID attribute) {
  return refuse(cudaErrorInvalidValue, fmt::format("attribute {} is not one of a stream", static_cast<int>(attribute)));
}

cudaLaunchAttributeValue default_of(cudaLaunchAttributeID attribute) noexcept {
  cudaLaunchAttributeValue value{};
  if (attribute == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = cudaSyncPolicyAuto;
  if (attribute == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  return value;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
  return on_stream(stream, [&](unsigned long long id) { return give(out, id); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return on_stream(stream, [&](unsigned long long) { return give(device, 0); });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return on_stream(stream, [&](unsigned long long) { return give(priority, 0); });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return on_stream(stream, [&](unsigned long long) {
    return give(flags, cuda_cpu::cpu::is_blocking_stream(stream_of(stream)) ? unsigned{cudaStreamDefault}
                                                                            : unsigned{cudaStreamNonBlocking});
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue const* value) {
  return on_stream(stream, [&](unsigned long long id) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_of_streams(attribute)) return refuse_attribute(attribute);
    MutexLock const lock(set_attributes().mutex);
    auto& its = set_attributes().of_streams[id][attribute] = *value;
    if (attribute == cudaLaunchAttributePriority) its.priority = 0;  // the only priority
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return on_stream(stream, [&](unsigned long long id) {
    if (!is_of_streams(attribute)) return refuse_attribute(attribute);
    MutexLock const lock(set_attributes().mutex);
    auto const& its = set_attributes().of_streams[id];
    auto const found = its.find(attribute);
    return give(value, found == its.end() ? default_of(attribute) : found->second);
  });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return on_stream(to, [&](unsigned long long target) {
    return on_stream(from, [&](unsigned long long source) {
      MutexLock const lock(set_attributes().mutex);
      set_attributes().of_streams[target] = set_attributes().of_streams[source];
      return cudaSuccess;
    });
  });
}

// CUDA calls the function even after the context is lost, unlike a host function. Here it is not called then.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags) {
  return call([&]() -> cudaError_t {
    if (function == nullptr || flags != 0) return cudaErrorInvalidValue;
    CUresult const check = check_not_captured(stream_of(stream));  // a graph would call it more than once
    if (check != CUDA_SUCCESS) return to_error(driver().check(check, "cuStreamAddCallback()"));
    auto callback = std::make_unique<Callback>(Callback{function, stream, data});
    CUresult const result = driver().launch_host_func(stream_of(stream), run, callback.get());
    if (result == CUDA_SUCCESS) static_cast<void>(callback.release());
    return to_error(result);
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t given, unsigned flags) {
  if (flags == cudaEventRecordDefault) return cudaEventRecord(event, given);
  return call([&]() -> cudaError_t {
    if (flags != cudaEventRecordExternal) return cudaErrorInvalidValue;
    CUstream const stream = stream_of(given);
    return to_error(record_event(event, stream, true, [&] { return driver().event_record(event, stream); }));
  });
}

}  // extern "C"
