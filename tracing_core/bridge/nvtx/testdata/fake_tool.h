// A library that NVTX_INJECTION64_PATH can name, as that of an NVTX tool: writes down what it is told.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tracing_test {

/// Returns and clears the calls since the last call of this function, such as `push testlog: load (mylib)`: the domain,
/// the text, and the category in parentheses. `reg:` stands before a registered text. Thread-safe.
std::vector<std::string> take_nvtx_calls();

/// Returns how many strings have been registered.
std::size_t count_registered_nvtx_strings();

}  // namespace tracing_test
