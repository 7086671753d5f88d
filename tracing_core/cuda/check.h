// Declares TRACE_CUDA_CHECK, TRACE_CUDA_CHECK_THROW and, for what nvcc compiles, TRACE_LAUNCH: for code that calls the runtime
// API, the driver and NVIDIA's libraries itself. Includes no header of CUDA's, and needs none of its libraries to link.
//
//     TRACE_CUDA_CHECK(cudaMalloc(&values, bytes));
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

namespace tracing::inline v1::cuda {

/// What TRACE_CUDA_CHECK_THROW throws. what() is the call's text, what went wrong, and name and number of the code.
class CallError : public std::runtime_error {
 public:
  CallError(std::string const& what, std::int64_t code, std::string name)
      : std::runtime_error(what), code_(code), name_(std::move(name)) {}

  std::int64_t code() const noexcept { return code_; }
  /// As its library calls it, cudaErrorMemoryAllocation; empty where nobody could be asked.
  std::string const& name() const noexcept { return name_; }

 private:
  std::int64_t code_;
  std::string name_;
};

namespace internal {

// The runtime library as far as the program has it, and null otherwise: these references link nothing. It is asked this way
// because as a rule it is linked statically, where the loader does not find its functions.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattribute-alias"  // their codes are an enumeration of a header that is not included
#endif
[[gnu::unused, gnu::weakref("cudaGetErrorName")]] static char const* runtime_error_name(int);
[[gnu::unused, gnu::weakref("cudaGetErrorString")]] static char const* runtime_error_string(int);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// A value that some call returned. Codes are told apart by the name of their type, which needs no header.
struct Code {
  std::string_view type;
  std::int64_t value = 0;
  char const* (*runtime_name)(int) = nullptr;
  char const* (*runtime_string)(int) = nullptr;

  bool failed() const noexcept { return value != 0 && !is_pending(); }
  bool is_pending() const noexcept;  // not an error: what was asked about has not ended
  std::string_view name() const noexcept;  // empty where it is not known; lives for ever, as its library's texts do
  Value shown_name() const noexcept {      // nothing where it is not known
    std::string_view const known = name();
    return known.empty() ? Value() : Value::of_verbatim(known);
  }
  std::string description() const;  // never empty
};

// The type's name as the compiler spells it; an alias is what it stands for: CUresult is cudaError_enum.
template <class T>
constexpr std::string_view type_name() noexcept {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class T>
Code code_of(T result) noexcept {
  static_assert(std::is_enum_v<T> || std::is_integral_v<T>, "a call is checked by the code it returns, zero for success");
  return {type_name<T>(), static_cast<std::int64_t>(result), &runtime_error_name, &runtime_error_string};
}

// The value of a macro, which nobody has to use.
template <class T>
constexpr T given(T result) noexcept {
  return result;
}

[[noreturn]] void throw_call_error(std::string_view call, Code const& code);

// True where CUDA_LAUNCH_BLOCKING=1 stands in the environment at the first call, else nothing.
Value launch_blocking() noexcept;

// A kernel with commas stands in parentheses.
constexpr std::string_view without_parentheses(std::string_view text) noexcept {
  return text.starts_with('(') && text.ends_with(')') ? text.substr(1, text.size() - 2) : text;
}

template <class Dim>
std::tuple<unsigned, unsigned, unsigned> extent(Dim const& dim) noexcept {
  return {dim.x, dim.y, dim.z};
}

}  // namespace internal
}  // namespace tracing::inline v1::cuda

#define TRACING_INTERNAL_CUDA_TELL_(event, code, message, ...)                                   \
  event(message, __VA_ARGS__, (code).description(), ::tracing::kv("error", (code).shown_name()), \
        ::tracing::kv("code", (code).value))

#define TRACING_INTERNAL_CUDA_CHECK_(n, on_failure, text, ...)     \
  TRACING_INTERNAL_CUDA_CHECK_N_(n, on_failure, text, __VA_ARGS__)
#define TRACING_INTERNAL_CUDA_CHECK_N_(n, on_failure, text, ...)                           \
  __extension__({                                                                          \
    auto const tracing_result_##n = (__VA_ARGS__);                                         \
    auto const tracing_code_##n = ::tracing::cuda::internal::code_of(tracing_result_##n);  \
    if (tracing_code_##n.failed()) [[unlikely]] {                                          \
      TRACING_INTERNAL_CUDA_TELL_(TRACING_ERROR, tracing_code_##n, "{} failed: {}", text); \
      on_failure(text, tracing_code_##n);                                                  \
    }                                                                                      \
    ::tracing::cuda::internal::given(tracing_result_##n);                                  \
  })
#define TRACING_INTERNAL_CUDA_GO_ON_(text, code) static_cast<void>(0)

/// The value of a call that returns a code, such as cudaError_t, CUresult, nvrtcResult, cublasStatus_t, any enumeration or
/// integer with zero for success: `if (TRACING_CUDA_CHECK(cudaMalloc(&p, n)) != cudaSuccess) return;`. Where it is none, an
/// event, level ERROR, at this place tells the call's text, what went wrong, and name and number of the code, as far as the
/// library that the code belongs to is in the process to be asked. What has not ended yet (cudaErrorNotReady and its like) is
/// no error. The call is made once, whether anybody listens or not.
#define TRACING_CUDA_CHECK(...)                                                                      \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, TRACING_INTERNAL_CUDA_GO_ON_, #__VA_ARGS__, __VA_ARGS__)
/// The same, and throws tracing::cuda::CallError behind the event.
#define TRACING_CUDA_CHECK_THROW(...)                                                                               \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, ::tracing::cuda::internal::throw_call_error, #__VA_ARGS__, __VA_ARGS__)

#if defined(__CUDACC__)
#define TRACING_INTERNAL_LAUNCH_(n, text, kernel, grid, block, shared_bytes, stream, ...)                   \
  TRACING_INTERNAL_LAUNCH_N_(n, text, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)
#define TRACING_INTERNAL_LAUNCH_N_(n, text, kernel, grid, block, shared_bytes, stream, ...)                      \
  __extension__({                                                                                                \
    ::dim3 const tracing_grid_##n(grid);                                                                         \
    ::dim3 const tracing_block_##n(block);                                                                       \
    ::std::size_t const tracing_shared_##n = shared_bytes;                                                       \
    ::cudaStream_t const tracing_stream_##n = stream;                                                            \
    ::std::string_view const tracing_name_##n = ::tracing::cuda::internal::without_parentheses(text);            \
    TRACING_SPAN(trace, "launch", ::tracing::kv("kernel.name", tracing_name_##n),                                \
                 ::tracing::kv("grid", ::tracing::cuda::internal::extent(tracing_grid_##n)),                     \
                 ::tracing::kv("block", ::tracing::cuda::internal::extent(tracing_block_##n)),                   \
                 ::tracing::kv("shared_bytes", tracing_shared_##n), ::tracing::kv("stream", tracing_stream_##n), \
                 ::tracing::kv("blocking", ::tracing::cuda::internal::launch_blocking()));                       \
    auto const tracing_before_##n = ::tracing::cuda::internal::code_of(::cudaGetLastError());                    \
    if (tracing_before_##n.failed()) [[unlikely]]                                                                \
      TRACING_INTERNAL_CUDA_TELL_(TRACING_WARN, tracing_before_##n,                                              \
                                  "before the launch of {} an earlier call failed: {}", tracing_name_##n);       \
    kernel<<<tracing_grid_##n, tracing_block_##n, tracing_shared_##n, tracing_stream_##n>>>(__VA_ARGS__);        \
    ::cudaError_t const tracing_result_##n = ::cudaGetLastError();                                               \
    auto const tracing_code_##n = ::tracing::cuda::internal::code_of(tracing_result_##n);                        \
    if (tracing_code_##n.failed()) [[unlikely]]                                                                  \
      TRACING_INTERNAL_CUDA_TELL_(TRACING_ERROR, tracing_code_##n, "launch of {} failed: {}", tracing_name_##n); \
    ::tracing::cuda::internal::given(tracing_result_##n);                                                        \
  })

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...) in a span `launch`, level TRACE, {kernel.name, grid, block,
/// shared_bytes, stream}, and {blocking} where CUDA_LAUNCH_BLOCKING=1. Gives the launch's own cudaError_t, and tells it where
/// it is one; an error that an earlier call left behind is told first, level WARN, and taken away. A template with commas in
/// parentheses: TRACING_LAUNCH((scale<float, 4>), 1, 32, 0, stream, values).
#define TRACING_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                 \
  TRACING_INTERNAL_LAUNCH_(__COUNTER__, #kernel, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)
#endif

#if !defined(TRACING_NO_SHORT_MACROS)
#define TRACE_CUDA_CHECK(...)                                                                        \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, TRACING_INTERNAL_CUDA_GO_ON_, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_CUDA_CHECK_THROW(...)                                                                                 \
  TRACING_INTERNAL_CUDA_CHECK_(__COUNTER__, ::tracing::cuda::internal::throw_call_error, #__VA_ARGS__, __VA_ARGS__)
#if defined(__CUDACC__)
#define TRACE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                   \
  TRACING_INTERNAL_LAUNCH_(__COUNTER__, #kernel, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)
#endif
#endif
