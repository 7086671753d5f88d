// Declares decode(), which translates an entry and the functions that it calls into steps.
#pragma once

#include <memory>

#include "cuda_cpu/executor/machine/machine.h"
#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu {

/// Translates the entry. REQUIRES: the entry is not refused.
std::unique_ptr<DecodedKernel const> decode(ptx::Module const& module, ptx::Function const& entry,
                                            Addresses const& addresses);

/// Returns the handler of a form, or null. For tests: every form must have a handler.
Handler find_handler(ptx::Form const& form);

}  // namespace cuda_cpu
