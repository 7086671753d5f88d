// The names of kernels for people.
#pragma once

#include <string>

namespace tracing::inline v1::cuda {

/// A kernel as its source names it, with its namespace and its template arguments, without its parameters: `saxpy<float>` for
/// _Z5saxpyIfEvPT_. A symbol that is not mangled, such as that of an extern "C" kernel, stays as it is.
std::string kernel_name(char const* symbol);

}  // namespace tracing::inline v1::cuda
