// Support for tests of Driver: a fake driver that returns the results set by the test, and its records as text.
#pragma once

#include <cstdint>
#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda_test {

using namespace cuda;  // NOLINT

// The results of the fake driver, and the calls that it received.
struct Answers {
  CUresult launch = CUDA_SUCCESS;
  CUresult synchronize = CUDA_SUCCESS;
  CUresult query = CUDA_SUCCESS;
  CUresult alloc = CUDA_SUCCESS;
  CUresult load = CUDA_SUCCESS;
  CUresult get_function = CUDA_SUCCESS;
  std::string load_errors;
  std::string load_remarks;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  std::vector<LaunchId> launched;
  int synchronized = 0;
  std::function<void()> while_synchronizing;
  std::function<void()> while_stream_synchronizing;
};
inline Answers answers;

template <class T>
T handle(std::uintptr_t number) {
  return reinterpret_cast<T>(number);
}

// Returns the fake driver, which has only the calls that the tests need.
inline DriverApi answering() {
  answers = {};
  DriverApi api;
  api.ctx_synchronize = []() {
    if (answers.while_synchronizing) answers.while_synchronizing();
    return answers.synchronize;
  };
  api.launch_host_func = [](CUstream, CUhostFn function, void* data) {
    bool const captured = answers.capture == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    for (int times = captured ? 2 : 1; times > 0; --times) function(data);  // like a graph that is launched twice
    return CUDA_SUCCESS;
  };
  api.stream_destroy = [](CUstream) { return CUDA_SUCCESS; };
  api.module_load_data_ex = [](CUmodule* module, void const*, unsigned count, CUjit_option* options, void** values) {
    *module = handle<CUmodule>(1);
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) answers.load_errors.copy(static_cast<char*>(values[i]), 1000);
      if (options[i] == CU_JIT_INFO_LOG_BUFFER) answers.load_remarks.copy(static_cast<char*>(values[i]), 1000);
    }
    return answers.load;
  };
  api.module_unload = [](CUmodule) { return CUDA_SUCCESS; };
  api.module_get_function = [](CUfunction* function, CUmodule, char const* name) {
    *function = handle<CUfunction>(std::string_view(name) == "first" ? 1 : 2);
    return answers.get_function;
  };
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                         void**, void**) {
    answers.launched.push_back(current_launch());
    return answers.launch;
  };
  api.launch_cooperative_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     CUstream, void**) {
    answers.launched.push_back(current_launch());
    return answers.launch;
  };
  api.mem_alloc = [](CUdeviceptr* pointer, std::size_t) {
    *pointer = 0x1000;
    return answers.alloc;
  };
  api.mem_alloc_async = [](CUdeviceptr* pointer, std::size_t, CUstream) {
    *pointer = 0x2000;
    return CUDA_SUCCESS;
  };
  api.array_3d_create = [](CUarray* array, CUDA_ARRAY3D_DESCRIPTOR const*) {
    *array = handle<CUarray>(0x4000);
    return CUDA_SUCCESS;
  };
  api.array_destroy = [](CUarray) { return CUDA_SUCCESS; };
  api.mem_free = [](CUdeviceptr) { return CUDA_SUCCESS; };
  api.mem_free_async = [](CUdeviceptr, CUstream) { return CUDA_SUCCESS; };
  api.mem_get_address_range = [](CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr pointer) {
    *begin = pointer;
    *bytes = 64;
    return pointer == 0x1000 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  };
  api.memset_d8 = [](CUdeviceptr, unsigned char, std::size_t) { return CUDA_SUCCESS; };
  api.memset_d32 = [](CUdeviceptr, unsigned, std::size_t) { return CUDA_SUCCESS; };
  api.memset_d8_async = [](CUdeviceptr, unsigned char, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memset_d32_async = [](CUdeviceptr, unsigned, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memset_d2d8_async = [](CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream) {
    return CUDA_SUCCESS;
  };
  api.memset_d2d16_async = [](CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream) {
    return CUDA_SUCCESS;
  };
  api.memset_d2d32_async = [](CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream) {
    return CUDA_SUCCESS;
  };
  api.stream_wait_event = [](CUstream, CUevent, unsigned) { return CUDA_SUCCESS; };
  api.memcpy_htod = [](CUdeviceptr, void const*, std::size_t) { return CUDA_SUCCESS; };
  api.memcpy_dtod = [](CUdeviceptr, CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
  api.memcpy_htod_async = [](CUdeviceptr, void const*, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memcpy_dtoh_async = [](void*, CUdeviceptr, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memcpy_dtod_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memcpy_dtoh = [](void*, CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
  api.stream_create = [](CUstream* stream, unsigned) {
    static std::uintptr_t last = 0;
    *stream = handle<CUstream>(++last * 16);
    return CUDA_SUCCESS;
  };
  api.stream_synchronize = [](CUstream) {
    ++answers.synchronized;
    if (answers.while_stream_synchronizing) answers.while_stream_synchronizing();
    return answers.synchronize;
  };
  api.stream_query = [](CUstream) { return answers.query; };
  api.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = answers.capture;
    return CUDA_SUCCESS;
  };
  api.event_create = [](CUevent* event, unsigned) {
    static std::uintptr_t last = 0;
    *event = handle<CUevent>(++last * 16);
    return CUDA_SUCCESS;
  };
  api.event_destroy = [](CUevent) { return CUDA_SUCCESS; };
  api.event_elapsed_time = [](float* milliseconds, CUevent, CUevent) {
    *milliseconds = 1.5f;
    return CUDA_SUCCESS;
  };
  api.event_record = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.event_query = [](CUevent) { return answers.query; };
  api.event_synchronize = [](CUevent) { return answers.synchronize; };
  api.get_error_name = [](CUresult, char const** name) {
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  };
  api.get_error_string = api.get_error_name;
  return api;
}

// Not inline: its call has the target of the test.
[[maybe_unused]] static CUfunction function_of(Driver& driver, char const* name) {
  CUfunction function = nullptr;
  driver.module_get_function(&function, nullptr, name);
  return function;
}

// Returns the records of `emit` as text, without times, and with launches numbered from 1.
inline std::string printed_of_driver(std::function<void()> const& emit, SpanEvents span_events = SpanEvents::none) {
  FormatOptions format;
  format.timer = nullptr;
  PrintOptions options{.event_format = make_event_format(format)};
  options.span_events = span_events;
  std::string text = tracing_test::printed(std::move(options), emit);
  text = std::regex_replace(text, std::regex("after_us=[0-9]+"), "after_us=<us>");
  text = std::regex_replace(text, std::regex("duration_us=[0-9.e+-]+ gb_per_s=[0-9.e+-]+"),
                            "duration_us=<us> gb_per_s=<gb>");
  text = std::regex_replace(text, std::regex("duration_ms=[0-9.]+"), "duration_ms=<ms>");
  LaunchId const first = answers.launched.empty() ? 0 : answers.launched.front();
  for (LaunchId const id : answers.launched) {
    std::regex const number("launch([= ])" + std::to_string(id) + "\\b");
    text = std::regex_replace(text, number, "launch$01#" + std::to_string(id - first + 1));
  }
  return std::regex_replace(text, std::regex("launch([= ])1#"), "launch$01#");
}

}  // namespace tracing::cuda_test
