// Declares decode(), which makes steps of an entry and of the functions that it calls.
#pragma once

#include <functional>
#include <memory>

#include "cuda_tests/executor/machine.h"
#include "cuda_tests/ptx/module.h"

namespace cuda_tests {

/// The entry must not be refused. `address_of` gives the addresses of the module's global and constant variables.
std::unique_ptr<DecodedKernel const> decode(ptx::Module const& module, ptx::Function const& entry,
                                            std::function<std::uintptr_t(std::size_t variable)> const& address_of);

/// The handler of a form for whatever operands it takes, null where there is none, for the check that every form has one.
Handler find_handler(ptx::Form const& form);

}  // namespace cuda_tests
