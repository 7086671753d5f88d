// parse() reads PTX.
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu::ptx {

/// A module, or why there is none.
using Parsed = std::variant<std::shared_ptr<Module const>, Diagnostic>;

/// Reads the output of NVRTC or nvcc; zeros at its end are ignored. A function that uses something that is not
/// supported is refused, see Function::refusal; a text that cannot be parsed gives a diagnostic. Does not check all
/// that ptxas checks: the text is taken to be valid PTX for its target.
Parsed parse(std::string_view text);

}  // namespace cuda_cpu::ptx
