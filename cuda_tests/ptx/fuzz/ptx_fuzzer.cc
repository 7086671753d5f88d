// Reads any bytes as PTX: a diagnosis names a place in the text, a refusal its line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cuda_tests/ptx/forms.h"
#include "cuda_tests/ptx/parse.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const parsed = cuda_tests::ptx::parse({reinterpret_cast<char const*>(data), size});
  if (auto const* const diagnosis = std::get_if<cuda_tests::ptx::Diagnosis>(&parsed)) {
    require(diagnosis->line > 0 && diagnosis->column > 0 && !diagnosis->message.empty());
    return 0;
  }
  for (auto const& function : std::get<0>(parsed)->functions()) {
    if (function.refusal) require(function.refusal->line > 0 && !function.refusal->message.empty());
    for (auto const& instruction : function.instructions) require(instruction.form != nullptr);
  }
  return 0;
}
