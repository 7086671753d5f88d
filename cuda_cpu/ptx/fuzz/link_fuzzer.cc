// Links arbitrary bytes as the PTX of two units, which a zero byte separates. Checks that each failure has a sentence
// and that the parser can read the result.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cuda_cpu/ptx/link.h"
#include "cuda_cpu/ptx/parse.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  auto const end = std::min(text.find('\0'), size);
  // Without a zero byte the unit is linked with itself.
  std::string_view const units[] = {text.substr(0, end), end < size ? text.substr(end + 1) : text};
  auto const linked = cuda_cpu::ptx::link(units);
  if (auto const* const error = std::get_if<cuda_cpu::ptx::LinkError>(&linked)) {
    require(!error->message.empty());
    return 0;
  }
  auto const parsed = cuda_cpu::ptx::parse(std::get<0>(linked));
  if (auto const* const diagnostic = std::get_if<cuda_cpu::ptx::Diagnostic>(&parsed)) require(diagnostic->line > 0);
  return 0;
}
