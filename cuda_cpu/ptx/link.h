// link() makes one PTX text of those of several translation units, which refer to each other (nvcc -rdc=true).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace cuda_cpu::ptx {

/// Why texts cannot be linked: "multiple definitions of 'f', in translation units 1 and 3".
struct LinkError {
  std::string message;
};

using Linked = std::variant<std::string, LinkError>;

/// Replaces `.extern` declarations by the definitions of other units. Of several `.weak` definitions the first is used,
/// unless there is one that is not weak. Names that are neither extern nor visible nor weak, such as `$str`, keep their
/// name if no other unit has it, and get the number of their unit otherwise: `$str$2`. Functions and variables without a
/// definition stay `.extern`, which the parser refuses where they are used. Line information stays; the other sections
/// for debuggers are left out. Lines that messages name are those of the result.
Linked link(std::span<std::string_view const> units);

}  // namespace cuda_cpu::ptx
