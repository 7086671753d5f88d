// Declares parse(), which reads PTX.
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu::ptx {

/// A module, or the reason why the text has none.
using Parsed = std::variant<std::shared_ptr<Module const>, Diagnostic>;

/// Reads the output of NVRTC or nvcc; ignores zeros at its end. Refuses a function that uses something that is not
/// supported, see Function::refusal; a text that cannot be parsed gives a diagnostic. Does not repeat all checks of
/// ptxas: the text is taken to be valid PTX for its target.
Parsed parse(std::string_view text);

}  // namespace cuda_cpu::ptx
