// Declares parse(), which reads PTX.
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "cuda_tests/ptx/module.h"

namespace cuda_tests::ptx {

/// A module, or why there is none.
using Parsed = std::variant<std::shared_ptr<Module const>, Diagnosis>;

/// Reads a PTX text; zeros at its end are ignored, so NVRTC's may be passed with the one that it counts. An entry with an
/// instruction or a directive that PTX has and we do not is there but refused; text that is not PTX gives a diagnosis.
Parsed parse(std::string_view text);

}  // namespace cuda_tests::ptx
