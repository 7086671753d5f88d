// For tests: checks PTX with ptxas, the assembler of the toolkit.
#pragma once

#include <string>

namespace cuda_cpu::ptx {

/// Returns true if the toolkit was found when the tests were configured.
bool has_ptxas();
/// Returns the output of ptxas for a text and the target that the text names; empty if ptxas accepts the text.
std::string ptxas_errors(std::string const& text);

}  // namespace cuda_cpu::ptx
