// decode() translates an entry and the functions that it calls into steps.
#pragma once

#include <memory>

#include "cuda_cpu/executor/machine.h"
#include "cuda_cpu/ptx/module.h"

namespace cuda_cpu {

/// REQUIRES: the entry is not refused.
std::unique_ptr<DecodedKernel const> decode(ptx::Module const& module, ptx::Function const& entry,
                                            Addresses const& addresses);

/// The handler of a form, or null. For tests: every form must have one.
Handler find_handler(ptx::Form const& form);

}  // namespace cuda_cpu
