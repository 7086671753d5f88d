// Declares the reasons why PTX cannot be read or run.
#pragma once

#include <string>

#include "tracing_core/support/cxx20.h"

namespace cuda_cpu::ptx {

/// The reason why a text could not be parsed.
struct Diagnostic {
  int line = 0;      // from 1
  int column = 0;    // from 1
  std::string text;  // the offending token; empty at the end of the text
  std::string message;

  /// Returns "line 12, column 3: expected ',' at ']'".
  std::string to_string() const;
};

/// The reason why an entry or a function cannot be run: it uses something that is not supported.
struct Refusal {
  int line = 0;
  std::string message;  // "line 57: not supported: tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}]"
};

}  // namespace cuda_cpu::ptx
