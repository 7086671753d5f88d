#include "cuda_cpu/ptx/types.h"

#include <array>
#include <cstddef>

namespace cuda_cpu::ptx {
namespace {

constexpr std::array<std::string_view, 24> kTypes = {
    "",    "b8",  "b16",  "b32",   "b64",    "u8",  "u16", "u32",  "u64",   "s8",    "s16",    "s32",
    "s64", "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "pred", "u16x2", "s16x2", "e4m3x2", "e5m2x2"};
constexpr std::array<std::string_view, 6> kSpaces = {"generic", "global", "const", "shared", "local", "param"};

}  // namespace

std::string_view name(Type type) noexcept { return kTypes[static_cast<std::size_t>(type)]; }
std::string_view name(Space space) noexcept { return kSpaces[static_cast<std::size_t>(space)]; }

Type find_type(std::string_view name) noexcept {
  for (std::size_t i = 1; i < kTypes.size(); ++i)
    if (kTypes[i] == name) return static_cast<Type>(i);
  return Type::none;
}

}  // namespace cuda_cpu::ptx
