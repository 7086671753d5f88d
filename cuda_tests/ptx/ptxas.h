// For tests: the assembler of the toolkit, as an oracle.
#pragma once

#include <string>

namespace cuda_tests::ptx {

/// Whether there is one.
bool has_ptxas();
/// What it prints about a text, for the target that the text names; empty where it takes it.
std::string complaint(std::string const& text);

}  // namespace cuda_tests::ptx
