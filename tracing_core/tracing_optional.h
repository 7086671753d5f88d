// The statements of testlog for code that must also compile without testlog. Copy this file into your library, and
// include it in place of <tracing_core/tracing.h>. It works with any compiler from C++11 on and needs no other file.
//
// Without testlog, and below C++20, the statements do nothing, evaluate nothing and leave no code; types such as
// tracing::Span are empty, and functions such as tracing::with_current_span() return their arguments. With testlog
// this file includes testlog's headers. The macro TRACING_OPTIONAL decides if testlog is used:
//
//   undefined  use testlog if the compiler finds its headers and compiles C++20; this file then defines the macro as
//              0 or 1
//   0          do not use testlog
//   1          use testlog. Write 0 or 1, not OFF or ON: the preprocessor takes a word for 0
//
// If a class has a Span as a member, or an inline function has a statement, all files of a target must agree. So define
// the macro for the whole target.
//
// Further macros, each defined before the #include:
//
//   TRACING_NO_SHORT_MACROS      define only TRACING_INFO and the like, not TRACE_INFO
//   TRACING_OPTIONAL_LONG_NAMES  as TRACING_NO_SHORT_MACROS, but only for this #include: for a header whose users may
//                                themselves define such short names
//   TRACING_OPTIONAL_CUDA        also define TRACE_CUDA_CALL, TRACE_CUDA_CALL_THROW and TRACE_LAUNCH, which are
//                                always defined for nvcc
//
// TRACING_OFF_INFO and the like are statements that do nothing even if testlog is used; tracing::without_testlog has
// functions that do nothing. A library that can be switched off maps its own names to them: see docs/optional.md of
// testlog, which has the CMake lines, too.
//
// Copyright (c) 2026 the testlog authors. SPDX-License-Identifier: MIT
//
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
// documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
// rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
// permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright
// notice and this permission notice shall be included in all copies or substantial portions of the Software. THE
// SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
// WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
// COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
// OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

#if defined(TRACING_OPTIONAL_LONG_NAMES)
#pragma push_macro("TRACING_NO_SHORT_MACROS")
#undef TRACING_NO_SHORT_MACROS
#define TRACING_NO_SHORT_MACROS
#endif

#if !defined(TRACING_OPTIONAL)
#if defined(__has_include)
#if (__cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)) && __has_include(<tracing_core/tracing.h>)
#define TRACING_OPTIONAL 1
#endif
#endif
#if !defined(TRACING_OPTIONAL)
#define TRACING_OPTIONAL 0
#endif
#endif

#if TRACING_OPTIONAL
#include <tracing_core/tracing.h>  // each time: an earlier #include may have defined only the long names
#elif defined(TRACING_SPAN) && !defined(TRACING_OPTIONAL_VERSION)
#error "TRACING_OPTIONAL is 0, and this file has included testlog's own statements: it can have only one of both"
#endif

// Several libraries' copies of this file may meet in one source file. A later version of this file adds its new parts
// in a separate block.
#if !defined(TRACING_OPTIONAL_VERSION)
#define TRACING_OPTIONAL_VERSION 1

#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__CUDACC__) && !defined(TRACING_OPTIONAL_CUDA)
#define TRACING_OPTIONAL_CUDA
#endif
#if defined(TRACING_OPTIONAL_CUDA)
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#endif

#if TRACING_OPTIONAL
#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/emit/log_event.h>
#include <tracing_core/perf/finish_perf.h>
#include <tracing_core/perf/recorders.h>
#if defined(TRACING_OPTIONAL_CUDA)
#include <tracing_core/cuda/check.h>
#endif
#endif

#pragma push_macro("critical")
#pragma push_macro("debug")
#pragma push_macro("error")
#pragma push_macro("info")
#pragma push_macro("trace")
#pragma push_macro("verbose")
#pragma push_macro("warn")
#undef critical
#undef debug
#undef error
#undef info
#undef trace
#undef verbose
#undef warn

namespace tracing {
// The functions are in another namespace than testlog's, so that a linker cannot mix up files with and without testlog.
#if TRACING_OPTIONAL
namespace without_testlog {
#else
inline namespace without_testlog {
#endif

// ---- arguments of statements ----

struct Argument {};
#if TRACING_OPTIONAL  // functions for a library that is switched off take testlog's types
using ::tracing::AnnotationLevel;
using ::tracing::empty;
using ::tracing::EnteredSpan;
using ::tracing::Level;
using ::tracing::Span;
using ::tracing::SpanId;
using ::tracing::TransferDirection;
#else
enum Empty { empty };  // not an object, since each file would have its own
enum class Level : std::uint8_t { error = 1, warn, info, debug, trace };
enum class AnnotationLevel : std::uint8_t { critical, info, verbose };
enum TransferDirection : std::uint8_t { h2d, d2h, d2d, H2D = h2d, D2H = d2h, D2D = d2d };
#endif

template <class T>
constexpr Argument kv(char const*, T const&) noexcept {
  return {};
}
#if __cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
template <auto const& kName, class T>
#else
template <char const* kName, class T>
#endif
constexpr Argument kv(T const&) noexcept {
  return {};
}
template <class T>
constexpr Argument display(T const&) noexcept {
  return {};
}
template <class T>
constexpr Argument debug(T const&) noexcept {
  return {};
}
template <class T>
constexpr Argument pretty(T const&) noexcept {
  return {};
}
constexpr Argument target(char const*) noexcept { return {}; }
template <class T>
constexpr Argument parent(T const&) noexcept {
  return {};
}
template <class Duration>
constexpr Argument threshold(Duration const&) noexcept {
  return {};
}

// ---- spans ----

#if !TRACING_OPTIONAL
struct SpanId {
  std::uint64_t value;

  constexpr SpanId() noexcept : value(0) {}
  constexpr explicit SpanId(std::uint64_t) noexcept : value(0) {}
  constexpr explicit operator bool() const noexcept { return false; }
  friend constexpr bool operator==(SpanId, SpanId) noexcept { return true; }
  friend constexpr bool operator!=(SpanId, SpanId) noexcept { return false; }
  friend constexpr bool operator<(SpanId, SpanId) noexcept { return false; }
  friend constexpr bool operator>(SpanId, SpanId) noexcept { return false; }
  friend constexpr bool operator<=(SpanId, SpanId) noexcept { return true; }
  friend constexpr bool operator>=(SpanId, SpanId) noexcept { return true; }
};

// Types whose destructors are not trivial: compilers warn about unused variables of all other types.
struct Entered {
  Entered() noexcept {}
  Entered(Entered const&) noexcept {}
  ~Entered() {}
};

class EnteredSpan;

class Span {
 public:
  constexpr Span() noexcept {}
  Span(Span const&) noexcept {}
  Span& operator=(Span const&) noexcept { return *this; }
  ~Span() {}

  static Span current() noexcept { return {}; }
  static Span none() noexcept { return {}; }

  Entered enter() const& noexcept { return {}; }
  EnteredSpan enter() && noexcept;
  EnteredSpan entered() && noexcept;
  template <class F>
  auto in_scope(F&& f) const -> decltype(std::forward<F>(f)()) {
    return std::forward<F>(f)();
  }

  template <class... T>
  Span const& record(T const&...) const noexcept {
    return *this;
  }
  Span const& follows_from(Span const&) const noexcept { return *this; }
  Span or_current() const noexcept { return {}; }

  bool is_none() const noexcept { return true; }
  bool is_disabled() const noexcept { return true; }
  explicit operator bool() const noexcept { return false; }
  SpanId id() const noexcept { return {}; }
  template <class Name>
  bool has_field(Name const&) const noexcept {
    return false;
  }

  friend bool operator==(Span const&, Span const&) noexcept { return true; }
  friend bool operator!=(Span const&, Span const&) noexcept { return false; }
};

class EnteredSpan {
 public:
  explicit EnteredSpan(Span) noexcept {}
  EnteredSpan(EnteredSpan&&) noexcept {}
  EnteredSpan& operator=(EnteredSpan&&) = delete;
  ~EnteredSpan() {}

  Span exit() && noexcept { return {}; }
  Span const& span() const noexcept { return span_; }

 private:
  Span span_;
};

inline EnteredSpan Span::enter() && noexcept { return EnteredSpan(Span()); }
inline EnteredSpan Span::entered() && noexcept { return EnteredSpan(Span()); }
#endif

template <class F>
typename std::decay<F>::type with_current_span(F&& f) {
  return std::forward<F>(f);
}

template <class Base>
class traced_promise : public Base {
 public:
  using Base::Base;
};
template <class Task>
Task instrument(Span const&, Task task) {
  return task;
}

template <class Name>
void set_thread_name(Name const&) noexcept {}

template <class... T>
void log_event(Level, T const&...) noexcept {}

// ---- profiles, perf ----

template <class Name, class F, class... T>
auto annotate(AnnotationLevel, Name const&, F&& f, T const&...) -> decltype(std::forward<F>(f)()) {
  return std::forward<F>(f)();
}
template <class Name, class F, class... T>
auto annotate(Name const&, F&& f, T const&...) -> decltype(std::forward<F>(f)()) {
  return std::forward<F>(f)();
}

template <class... T>
void finish_perf(Span const&, T const&...) noexcept {}

#if defined(TRACING_OPTIONAL_CUDA)
namespace cuda {

class CallError : public std::runtime_error {
 public:
  CallError(std::string const& what, std::int64_t code, std::string name)
      : std::runtime_error(what), code_(code), name_(std::move(name)) {}

  std::int64_t code() const noexcept { return code_; }
  std::string const& name() const noexcept { return name_; }

 private:
  std::int64_t code_;
  std::string name_;
};

}  // namespace cuda
#endif

// ---- expansions of the statements that do nothing ----

// Never called. Takes the arguments of statements, so that variables that only statements use count as used.
template <class... T>
constexpr bool mark_used(T const&...) noexcept {
  return false;
}
inline Span no_span(bool) noexcept { return Span(); }

struct NoPerf {
  constexpr std::uint64_t elapsed_ns() const noexcept { return 0; }
};
template <class... T>
constexpr NoPerf no_perf(T const&...) noexcept {
  return {};
}

#if defined(TRACING_OPTIONAL_CUDA)
template <class T>
constexpr T off_result(T code) noexcept {
  return code;
}
template <class Error, class T>
T off_result_or_throw(char const* call, T code) {
#if defined(_MSC_VER)
  char const* const function = __FUNCSIG__;
#else
  char const* const function = __PRETTY_FUNCTION__;
#endif
  std::int64_t const number = static_cast<std::int64_t>(code);
  bool const is_pending =
      std::is_enum<T>::value && (number == 600 || (number == 7 && std::strstr(function, "ncclResult")));
  if (number == 0 || is_pending) return code;
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
  throw Error(std::string(call) + " failed: " + std::to_string(number), number, std::string());
#else
  std::abort();
#endif
}
#endif

}  // namespace without_testlog
}  // namespace tracing

#pragma pop_macro("critical")
#pragma pop_macro("debug")
#pragma pop_macro("error")
#pragma pop_macro("info")
#pragma pop_macro("trace")
#pragma pop_macro("verbose")
#pragma pop_macro("warn")

#if __cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#define TRACING_OFF_UNUSED_ [[maybe_unused]]
#elif defined(__GNUC__)
#define TRACING_OFF_UNUSED_ __attribute__((unused))
#else
#define TRACING_OFF_UNUSED_
#endif
#if defined(__GNUC__)
#define TRACING_OFF_UNUSED_FUNCTION_ __attribute__((unused))
#else
#define TRACING_OFF_UNUSED_FUNCTION_
#endif
#define TRACING_OFF_EXPAND_(x) x  // without it MSVC would pass __VA_ARGS__ as one argument
#define TRACING_OFF_USE_(...)                                                         \
  do {                                                                                \
    if (false) static_cast<void>(::tracing::without_testlog::mark_used(__VA_ARGS__)); \
  } while (false)
#define TRACING_OFF_IS_ON_(...) (false && ::tracing::without_testlog::mark_used(__VA_ARGS__))
#define TRACING_OFF_MAKE_(...) ::tracing::without_testlog::no_span(TRACING_OFF_IS_ON_(__VA_ARGS__))
// Drops the level, which is a bare word. An argument always follows it, since before C++20 `...` must not be empty.
#define TRACING_OFF_WITHOUT_FIRST_(what, first, ...) what(__VA_ARGS__)
#define TRACING_OFF_REST_(what, ...) TRACING_OFF_EXPAND_(TRACING_OFF_WITHOUT_FIRST_(what, __VA_ARGS__, 0))
#define TRACING_OFF_FIRST_OF_(first, ...) first
#define TRACING_OFF_FIRST_(...) TRACING_OFF_EXPAND_(TRACING_OFF_FIRST_OF_(__VA_ARGS__, 0))

#define TRACING_OFF_SPAN(...) TRACING_OFF_REST_(TRACING_OFF_USE_, __VA_ARGS__)
#define TRACING_OFF_FN(...) TRACING_OFF_REST_(TRACING_OFF_USE_, __VA_ARGS__)
#define TRACING_OFF_MAKE_SPAN(...) TRACING_OFF_REST_(TRACING_OFF_MAKE_, __VA_ARGS__)
#define TRACING_OFF_ERROR(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_WARN(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_INFO(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_DEBUG(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_TRACE(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_LOG(level, ...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_VALUES(...) TRACING_OFF_REST_(TRACING_OFF_USE_, __VA_ARGS__)
#define TRACING_OFF_ENABLED(...) TRACING_OFF_REST_(TRACING_OFF_IS_ON_, __VA_ARGS__)
// TRACE_FIELDS and TRACE_ENUM record nothing themselves, so with testlog they keep their effect: other libraries may
// record the types. Without testlog they define functions, too, because `friend` or `template <class T>` may precede
// them.
#if TRACING_OPTIONAL
#define TRACING_OFF_FIELDS(...) TRACING_FIELDS(__VA_ARGS__)
#define TRACING_OFF_ENUM(...) TRACING_ENUM(__VA_ARGS__)
#else
#define TRACING_OFF_FIELDS(...)                                                                              \
  inline TRACING_OFF_UNUSED_FUNCTION_ void tracing_write_fields(::tracing::without_testlog::Argument const&, \
                                                                TRACING_OFF_FIRST_(__VA_ARGS__) const&) {}
#define TRACING_OFF_ENUM(...)                                                                                   \
  inline TRACING_OFF_UNUSED_FUNCTION_ void tracing_enumerator_name(::tracing::without_testlog::Argument const&, \
                                                                   TRACING_OFF_FIRST_(__VA_ARGS__) const&) {}
#endif
#define TRACING_OFF_ANNOTATE(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_ANNOTATE_AT(...) TRACING_OFF_REST_(TRACING_OFF_USE_, __VA_ARGS__)
#define TRACING_OFF_STEP(number) TRACING_OFF_USE_(number)
#define TRACING_OFF_PERF(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_PERF_AT(...) TRACING_OFF_REST_(TRACING_OFF_USE_, __VA_ARGS__)
#define TRACING_OFF_PERF_AS(variable, ...)                                    \
  TRACING_OFF_UNUSED_ constexpr ::tracing::without_testlog::NoPerf variable = \
      false ? ::tracing::without_testlog::no_perf(__VA_ARGS__) : ::tracing::without_testlog::NoPerf()
#define TRACING_OFF_MAKE_PERF(...) TRACING_OFF_MAKE_(__VA_ARGS__)
#define TRACING_OFF_PERF_ENABLED(...) TRACING_OFF_REST_(TRACING_OFF_IS_ON_, __VA_ARGS__)
#define TRACING_OFF_PERF_EVENT(...) TRACING_OFF_USE_(__VA_ARGS__)
#define TRACING_OFF_PERF_ALLOCATION(size, type) TRACING_OFF_USE_(size, type)
#define TRACING_OFF_PERF_EXECUTION(name, duration) TRACING_OFF_USE_(name, duration)
#define TRACING_OFF_PERF_TRANSFER(bytes, direction, duration) TRACING_OFF_USE_(bytes, direction, duration)
#define TRACING_OFF_PERF_THROUGHPUT(items, duration) TRACING_OFF_USE_(items, duration)
#define TRACING_OFF_PERF_FLOPS(operations, duration) TRACING_OFF_USE_(operations, duration)
// These statements still make their CUDA call. TRACING_OFF_CUDA_CALL_THROW throws on errors, as with testlog.
#define TRACING_OFF_CUDA_CALL(...) ::tracing::without_testlog::off_result(__VA_ARGS__)
#define TRACING_OFF_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                            \
  ::tracing::without_testlog::off_result((static_cast<void>(::cudaGetLastError()),                    \
                                          kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__), \
                                          ::cudaGetLastError()))
#define TRACING_OFF_CUDA_CALL_THROW(...) \
  ::tracing::without_testlog::off_result_or_throw<::tracing::cuda::CallError>(#__VA_ARGS__, __VA_ARGS__)

#if !TRACING_OPTIONAL
#define TRACING_SPAN TRACING_OFF_SPAN
#define TRACING_FN TRACING_OFF_FN
#define TRACING_MAKE_SPAN TRACING_OFF_MAKE_SPAN
#define TRACING_ERROR TRACING_OFF_ERROR
#define TRACING_WARN TRACING_OFF_WARN
#define TRACING_INFO TRACING_OFF_INFO
#define TRACING_DEBUG TRACING_OFF_DEBUG
#define TRACING_TRACE TRACING_OFF_TRACE
#define TRACING_LOG TRACING_OFF_LOG
#define TRACING_VALUES TRACING_OFF_VALUES
#define TRACING_ENABLED TRACING_OFF_ENABLED
#define TRACING_FIELDS TRACING_OFF_FIELDS
#define TRACING_ENUM TRACING_OFF_ENUM
#define TRACING_ANNOTATE TRACING_OFF_ANNOTATE
#define TRACING_ANNOTATE_AT TRACING_OFF_ANNOTATE_AT
#define TRACING_STEP TRACING_OFF_STEP
#define TRACING_PERF TRACING_OFF_PERF
#define TRACING_PERF_AT TRACING_OFF_PERF_AT
#define TRACING_PERF_AS TRACING_OFF_PERF_AS
#define TRACING_MAKE_PERF TRACING_OFF_MAKE_PERF
#define TRACING_PERF_ENABLED TRACING_OFF_PERF_ENABLED
#define TRACING_PERF_EVENT TRACING_OFF_PERF_EVENT
#define TRACING_PERF_ALLOCATION TRACING_OFF_PERF_ALLOCATION
#define TRACING_PERF_EXECUTION TRACING_OFF_PERF_EXECUTION
#define TRACING_PERF_TRANSFER TRACING_OFF_PERF_TRANSFER
#define TRACING_PERF_THROUGHPUT TRACING_OFF_PERF_THROUGHPUT
#define TRACING_PERF_FLOPS TRACING_OFF_PERF_FLOPS
#define TRACING_CUDA_CALL TRACING_OFF_CUDA_CALL
#define TRACING_CUDA_CALL_THROW TRACING_OFF_CUDA_CALL_THROW
#define TRACING_LAUNCH TRACING_OFF_LAUNCH
#endif
#endif  // TRACING_OPTIONAL_VERSION

#if !TRACING_OPTIONAL && !defined(TRACING_NO_SHORT_MACROS) && !defined(TRACING_OFF_SHORT_MACROS_)
#define TRACING_OFF_SHORT_MACROS_
#define TRACE_SPAN TRACING_SPAN
#define TRACE_FN TRACING_FN
#define TRACE_MAKE_SPAN TRACING_MAKE_SPAN
#define TRACE_ERROR TRACING_ERROR
#define TRACE_WARN TRACING_WARN
#define TRACE_INFO TRACING_INFO
#define TRACE_DEBUG TRACING_DEBUG
#define TRACE_TRACE TRACING_TRACE
#define TRACE_LOG TRACING_LOG
#define TRACE_VALUES TRACING_VALUES
#define TRACE_ENABLED TRACING_ENABLED
#define TRACE_FIELDS TRACING_FIELDS
#define TRACE_ENUM TRACING_ENUM
#define TRACE_ANNOTATE TRACING_ANNOTATE
#define TRACE_ANNOTATE_AT TRACING_ANNOTATE_AT
#define TRACE_STEP TRACING_STEP
#define TRACE_PERF TRACING_PERF
#define TRACE_PERF_AT TRACING_PERF_AT
#define TRACE_PERF_AS TRACING_PERF_AS
#define TRACE_MAKE_PERF TRACING_MAKE_PERF
#define TRACE_PERF_ENABLED TRACING_PERF_ENABLED
#define TRACE_PERF_EVENT TRACING_PERF_EVENT
#define TRACE_PERF_ALLOCATION TRACING_PERF_ALLOCATION
#define TRACE_PERF_EXECUTION TRACING_PERF_EXECUTION
#define TRACE_PERF_TRANSFER TRACING_PERF_TRANSFER
#define TRACE_PERF_THROUGHPUT TRACING_PERF_THROUGHPUT
#define TRACE_PERF_FLOPS TRACING_PERF_FLOPS
#define TRACE_CUDA_CALL TRACING_CUDA_CALL
#define TRACE_CUDA_CALL_THROW TRACING_CUDA_CALL_THROW
#define TRACE_LAUNCH TRACING_LAUNCH
#endif

#if defined(TRACING_OPTIONAL_LONG_NAMES)
#undef TRACING_OPTIONAL_LONG_NAMES
#pragma pop_macro("TRACING_NO_SHORT_MACROS")
#endif
