// Declares link(), which makes one PTX text from the texts of several translation units that refer to each other (nvcc
// -rdc=true).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace cuda_cpu::ptx {

/// The reason why texts cannot be linked: "multiple definitions of 'f', in translation units 1 and 3".
struct LinkError {
  std::string message;
};

using Linked = std::variant<std::string, LinkError>;

/// Replaces `.extern` declarations by the definitions of other units. If a name has several `.weak` definitions, the
/// first is used, unless another definition is not weak. A name that is neither extern nor visible nor weak, such as
/// `$str`, is kept if no other unit has it; otherwise it gets the number of its unit: `$str$2`. Functions and variables
/// without a definition stay `.extern`, which the parser refuses where they are used. Keeps line information, and
/// leaves out the other sections for debuggers. Messages name the lines of the result.
Linked link(std::span<std::string_view const> units);

}  // namespace cuda_cpu::ptx
