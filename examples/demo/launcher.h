// Launcher is a toy runtime that compiles kernels, caches them, and runs them over an array.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <tracing_core/tracing.h>

namespace demo {

/// Checked kernels stay within the array; unchecked kernels trust the caller.
enum class Mode { Unchecked, Checked };
TRACE_ENUM(Mode, Unchecked, Checked)

/// A kernel and the number of elements to run it over; the array may be shorter.
struct Launch {
  std::string_view kernel;
  Mode mode;
  std::size_t count;
};

/// Compiles each kernel once and runs it on the caller's thread. Thread-compatible.
class Launcher {
 public:
  /// Runs the kernel over the first `count` elements. Returns the number of elements that it touched.
  std::size_t launch(Launch launch, std::span<int> data);

 private:
  struct Kernel {
    Mode compiled_for;
    std::function<std::size_t(std::size_t count, std::span<int> data)> body;
  };

  Kernel const& find_or_compile(std::string_view kernel, Mode mode);

  std::map<std::string, Kernel, std::less<>> cache_;
};

}  // namespace demo
