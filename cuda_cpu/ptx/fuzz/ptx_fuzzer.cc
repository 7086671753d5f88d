// Parses arbitrary bytes as PTX and checks that a diagnostic has a place in the text and a refusal has a line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cuda_cpu/ptx/forms.h"
#include "cuda_cpu/ptx/parse.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const parsed = cuda_cpu::ptx::parse({reinterpret_cast<char const*>(data), size});
  if (auto const* const diagnostic = std::get_if<cuda_cpu::ptx::Diagnostic>(&parsed)) {
    require(diagnostic->line > 0 && diagnostic->column > 0 && !diagnostic->message.empty());
    return 0;
  }
  for (auto const& function : std::get<0>(parsed)->functions()) {
    if (function.refusal) require(function.refusal->line > 0 && !function.refusal->message.empty());
    for (auto const& instruction : function.instructions) require(instruction.form != nullptr);
  }
  return 0;
}
