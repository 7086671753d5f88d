// For tests: checks PTX with ptxas, the assembler of the toolkit.
#pragma once

#include <string>

namespace cuda_cpu::ptx {

/// Whether the toolkit was found when the tests were configured.
bool has_ptxas();
/// What ptxas prints about a text for the target that the text names; empty if it accepts the text.
std::string ptxas_errors(std::string const& text);

}  // namespace cuda_cpu::ptx
