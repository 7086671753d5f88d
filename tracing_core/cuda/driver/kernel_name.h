// kernel_name(): the names of kernels for people.
#pragma once

#include <string>

namespace tracing { inline namespace v1 { namespace cuda {

/// Returns a kernel's name as in its source, with its namespace and its template arguments, without its parameters:
/// `saxpy<float>` for _Z5saxpyIfEvPT_. A symbol that is not mangled, such as the symbol of an extern "C" kernel, stays
/// as it is.
std::string kernel_name(char const* symbol);

/// The bytes of a kernel's name in messages. A longer name, as kernels of Thrust and CUTLASS have, is cut in the
/// middle.
inline constexpr std::size_t kMaxKernelName = 120;

}}}  // namespace tracing::v1::cuda
