// Declares what tests of Driver have in common: a driver of answers only, and what is recorded, as text.
#pragma once

#include <cstdint>
#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda_test {

using namespace cuda;  // NOLINT: what is tested

// What the driver below is to answer, and what it was asked.
struct Answers {
  CUresult launch = CUDA_SUCCESS;
  CUresult synchronize = CUDA_SUCCESS;
  CUresult query = CUDA_SUCCESS;
  CUresult event_destroy = CUDA_SUCCESS;
  CUresult alloc = CUDA_SUCCESS;
  CUresult load = CUDA_SUCCESS;
  CUresult get_function = CUDA_SUCCESS;
  std::string load_errors;
  std::string load_remarks;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  std::vector<LaunchId> launched;
  int synchronized = 0;
  CUresult unload = CUDA_SUCCESS;
  bool keeps_host_functions = false;  // and calls none
  std::vector<std::pair<CUhostFn, void*>> host_functions;
  std::function<void()> while_synchronizing;
  std::function<void()> while_stream_synchronizing;
};
inline Answers answers;

template <class T>
T handle(std::uintptr_t number) {
  return reinterpret_cast<T>(number);
}

// A driver of answers only; what a test does not need is not there.
inline DriverApi answering() {
  answers = {};
  DriverApi api;
  api.ctx_synchronize = []() {
    if (answers.while_synchronizing) answers.while_synchronizing();
    return answers.synchronize;
  };
  api.launch_host_func = [](CUstream, CUhostFn function, void* data) {
    if (answers.keeps_host_functions) {
      answers.host_functions.emplace_back(function, data);
      return CUDA_SUCCESS;
    }
    bool const captured = answers.capture == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    for (int times = captured ? 2 : 1; times > 0; --times) function(data);  // as a graph that is launched twice
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
  api.module_unload = [](CUmodule) { return answers.unload; };
  api.module_get_function = [](CUfunction* function, CUmodule, char const* name) {
    *function = handle<CUfunction>(std::string_view(name) == "first" ? 1 : 2);
    return answers.get_function;
  };
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                         void**) {
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
  api.mem_free_async = [](CUdeviceptr, CUstream) { return CUDA_SUCCESS; };
  api.memset_d8 = [](CUdeviceptr, unsigned char, std::size_t) { return CUDA_SUCCESS; };
  api.memset_d32 = [](CUdeviceptr, unsigned, std::size_t) { return CUDA_SUCCESS; };
  api.memset_d8_async = [](CUdeviceptr, unsigned char, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memset_d32_async = [](CUdeviceptr, unsigned, std::size_t, CUstream) { return CUDA_SUCCESS; };
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
  api.event_destroy = [](CUevent) { return answers.event_destroy; };
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

inline CUfunction function_of(Driver& driver, char const* name) {
  CUfunction function = nullptr;
  driver.module_get_function(&function, nullptr, name);
  return function;
}

// Without times, and with launches counted from 1.
inline std::string printed_of_driver(std::function<void()> const& emit, SpanEvents span_events = SpanEvents::none) {
  FormatOptions format;
  format.timer = nullptr;
  PrintOptions options{.event_format = make_event_format(format)};
  options.span_events = span_events;
  std::string text = tracing_test::printed(std::move(options), emit);
  text = std::regex_replace(text, std::regex("after_us=[0-9]+"), "after_us=<us>");
  text = std::regex_replace(text, std::regex("duration_us=[0-9.e+-]+ gb_per_s=[0-9.e+-]+"), "duration_us=<us> gb_per_s=<gb>");
  LaunchId const first = answers.launched.empty() ? 0 : answers.launched.front();
  for (LaunchId const id : answers.launched) {
    std::regex const number("launch([= ])" + std::to_string(id) + "\\b");
    text = std::regex_replace(text, number, "launch$01#" + std::to_string(id - first + 1));
  }
  return std::regex_replace(text, std::regex("launch([= ])1#"), "launch$01#");
}

}  // namespace tracing::cuda_test
