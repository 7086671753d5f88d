// TRACE_CUDA_CALL, TRACE_CUDA_CALL_THROW and, under nvcc, TRACE_LAUNCH: for code that calls the runtime API, the
// driver and NVIDIA's libraries directly. Includes no CUDA header and links no CUDA library.
//
//     TRACE_CUDA_CALL(cudaMalloc(&values, bytes));
//     TRACE_LAUNCH(scale, grid, block, 0, stream, values, count, 2.0f);
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracing_core/emit/macros.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Thrown by TRACE_CUDA_CALL_THROW. what() has the text of the call, the meaning of the code, its name and its number.
class CallError : public std::runtime_error {
 public:
  CallError(std::string const& what, std::int64_t code, std::string name)
      : std::runtime_error(what), code_(code), name_(std::move(name)) {}

  std::int64_t code() const noexcept { return code_; }
  /// Returns the name of the code, such as cudaErrorMemoryAllocation; empty if unknown.
  std::string const& name() const noexcept { return name_; }

 private:
  std::int64_t code_;
  std::string name_;
};

namespace internal {

// Functions of the runtime library. They are null if the program does not link the library: these weak references link
// nothing. dlsym() would not find them, because the library is usually linked statically.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattribute-alias"  // their parameter is an enumeration of a header not included here
#endif
[[gnu::unused, gnu::weakref("cudaGetErrorName")]] static char const* runtime_error_name(int);
[[gnu::unused, gnu::weakref("cudaGetErrorString")]] static char const* runtime_error_string(int);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// The value that a call returned. The library is found by the name of the value's type, which needs no header.
struct Code {
  std::string_view type;
  std::int64_t value = 0;
  char const* (*runtime_name)(int) = nullptr;
  char const* (*runtime_string)(int) = nullptr;

  bool failed() const noexcept { return value != 0 && !is_pending(); }
  bool is_pending() const noexcept;        // such as cudaErrorNotReady, which is not an error
  std::string_view name() const noexcept;  // empty if unknown; in static storage, since the libraries return it so
  Value name_field() const noexcept {
    std::string_view const known = name();
    return known.empty() ? Value() : Value::of_verbatim(known);
  }
  std::string description() const;  // never empty
};

// Returns the type's name as the compiler spells it. Aliases are resolved: CUresult is cudaError_enum.
template <class T>
constexpr std::string_view type_name() noexcept {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class T>
Code code_of(T result) noexcept {
  static_assert(std::is_enum_v<T> || std::is_integral_v<T>, "the call must return a code, zero for success");
  return {type_name<T>(), static_cast<std::int64_t>(result), &runtime_error_name, &runtime_error_string};
}

// Returns the value of a macro. Unlike the value itself, the result may be ignored without a warning.
template <class T>
constexpr T discardable(T result) noexcept {
  return result;
}

[[noreturn]] void throw_call_error(std::string_view call, Code const& code);

// Returns true if CUDA_LAUNCH_BLOCKING=1 was in the environment at the first call, and an empty value otherwise.
Value launch_blocking() noexcept;

// Removes the parentheses in which a kernel is passed whose name has commas.
constexpr std::string_view without_parentheses(std::string_view text) noexcept {
  return text.starts_with('(') && text.ends_with(')') ? text.substr(1, text.size() - 2) : text;
}

template <class Dim>
std::tuple<unsigned, unsigned, unsigned> extent(Dim const& dim) noexcept {
  return {dim.x, dim.y, dim.z};
}

}  // namespace internal
}}}  // namespace tracing::v1::cuda

#define TRACING_INTERNAL_CUDA_REPORT_(event, code, message, ...)                                 \
  event(message, __VA_ARGS__, (code).description(), ::tracing::kv("error", (code).name_field()), \
        ::tracing::kv("code", (code).value))

#define TRACING_INTERNAL_CUDA_CHECK_(n, on_failure, text, ...) \
  TRACING_INTERNAL_CUDA_CHECK_N_(n, on_failure, text, __VA_ARGS__)
#define TRACING_INTERNAL_CUDA_CHECK_N_(n, on_failure, text, ...)                             \
  __extension__({                                                                            \
    auto const tracing_result_##n = (__VA_ARGS__);                                           \
    auto const tracing_code_##n = ::tracing::cuda::internal::code_of(tracing_result_##n);    \
    if (tracing_code_##n.failed()) [[unlikely]] {                                            \
      TRACING_INTERNAL_CUDA_REPORT_(TRACING_ERROR, tracing_code_##n, "{} failed: {}", text); \
      on_failure(text, tracing_code_##n);                                                    \
    }                                                                                        \
    ::tracing::cuda::internal::discardable(tracing_result_##n);                              \
  })
#define TRACING_INTERNAL_CUDA_IGNORE_(text, code) static_cast<void>(0)

/// Evaluates a call, once, that returns a code with zero for success (cudaError_t, CUresult, nvrtcResult,
/// cublasStatus_t, any enumeration or integer). The value of the macro is the code:
///
///     if (TRACING_CUDA_CALL(cudaMalloc(&p, n)) != cudaSuccess) return;
///
/// For an error, emits an event, level ERROR, with the text of the call and the number, name and meaning of the code.
/// Name and meaning are known if the program links the library of the code. Codes for pending work (cudaErrorNotReady)
/// are not errors.
#define TRACING_CUDA_CALL(...) \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, TRACING_INTERNAL_CUDA_IGNORE_, #__VA_ARGS__, __VA_ARGS__)
/// As TRACING_CUDA_CALL, but throws tracing::cuda::CallError after the event.
#define TRACING_CUDA_CALL_THROW(...) \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, ::tracing::cuda::internal::throw_call_error, #__VA_ARGS__, __VA_ARGS__)

#if defined(__CUDACC__)
#define TRACING_INTERNAL_LAUNCH_(n, text, kernel, grid, block, shared_bytes, stream, ...) \
  TRACING_INTERNAL_LAUNCH_N_(n, text, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)
#define TRACING_INTERNAL_LAUNCH_N_(n, text, kernel, grid, block, shared_bytes, stream, ...)                        \
  (__extension__({                                                                                                 \
    ::dim3 const tracing_grid_##n(grid);                                                                           \
    ::dim3 const tracing_block_##n(block);                                                                         \
    ::std::size_t const tracing_shared_##n = shared_bytes;                                                         \
    ::cudaStream_t const tracing_stream_##n = stream;                                                              \
    ::std::string_view const tracing_name_##n = ::tracing::cuda::internal::without_parentheses(text);              \
    TRACING_SPAN(trace, "launch", ::tracing::kv("kernel.name", tracing_name_##n),                                  \
                 ::tracing::kv("grid", ::tracing::cuda::internal::extent(tracing_grid_##n)),                       \
                 ::tracing::kv("block", ::tracing::cuda::internal::extent(tracing_block_##n)),                     \
                 ::tracing::kv("shared_bytes", tracing_shared_##n), ::tracing::kv("stream", tracing_stream_##n),   \
                 ::tracing::kv("blocking", ::tracing::cuda::internal::launch_blocking()),                          \
                 ::tracing::kv("gpu.time", ::tracing::empty));                                                     \
    auto const tracing_before_##n = ::tracing::cuda::internal::code_of(::cudaGetLastError());                      \
    if (tracing_before_##n.failed()) [[unlikely]]                                                                  \
      TRACING_INTERNAL_CUDA_REPORT_(TRACING_WARN, tracing_before_##n,                                              \
                                    "before the launch of {} an earlier call failed: {}", tracing_name_##n);       \
    kernel<<<tracing_grid_##n, tracing_block_##n, tracing_shared_##n, tracing_stream_##n>>>(__VA_ARGS__);          \
    ::cudaError_t const tracing_result_##n = ::cudaGetLastError();                                                 \
    auto const tracing_code_##n = ::tracing::cuda::internal::code_of(tracing_result_##n);                          \
    if (tracing_code_##n.failed()) [[unlikely]]                                                                    \
      TRACING_INTERNAL_CUDA_REPORT_(TRACING_ERROR, tracing_code_##n, "launch of {} failed: {}", tracing_name_##n); \
    else                                                                                                           \
      TRACING_TRACE("launched");                                                                                   \
    ::tracing::cuda::internal::discardable(tracing_result_##n);                                                    \
  }))

/// Makes the launch kernel<<<grid, block, shared_bytes, stream>>>(arguments...) in a span `launch`, level TRACE, with
/// the fields kernel.name, grid, block, shared_bytes, stream, `blocking` if CUDA_LAUNCH_BLOCKING=1, and `gpu.time`,
/// which device times give it. The value of the macro is the cudaError_t of the launch. Emits an event: `launched`,
/// level TRACE, or why the launch failed, level ERROR. A pending error of an earlier call is reported first, level
/// WARN, and cleared. A kernel whose name has commas needs parentheses:
///
///     TRACING_LAUNCH((scale<float, 4>), 1, 32, 0, stream, values);
#define TRACING_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  TRACING_INTERNAL_LAUNCH_(__COUNTER__, #kernel, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)
#endif

#include "tracing_core/support/short_macros.inc"
