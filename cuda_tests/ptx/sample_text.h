// For tests: a kernel with one instruction of a form.
#pragma once

#include <string>

#include "cuda_tests/ptx/forms.h"

namespace cuda_tests::ptx {

/// `add.s32 %s32_0, %s32_1, %s32_2;`, with registers of the form's own types.
std::string sample_instruction(Form const& form);
/// The declarations that samples need, up to the '{' of the entry `sample`, and what ends it.
std::string sample_head(unsigned target, std::string const& version = "9.0");
std::string sample_tail();
/// The same and, with the registers again, the beginning of another entry: `sample7`.
std::string sample_next(unsigned number);

}  // namespace cuda_tests::ptx
