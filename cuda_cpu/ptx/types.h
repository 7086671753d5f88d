// Declares the types and state spaces of PTX, and their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace cuda_cpu::ptx {

enum class Type : std::uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64,
  pred,
  u16x2,
  s16x2,
  e4m3x2,
  e5m2x2,
};

enum class Space : std::uint8_t { generic, global, constant, shared, local, param };

/// Returns the name in PTX without the dot: "u32".
std::string_view name(Type type) noexcept;
std::string_view name(Space space) noexcept;
/// Returns the type of that name, or Type::none for an unknown name.
Type find_type(std::string_view name) noexcept;

constexpr bool is_signed(Type type) noexcept { return type >= Type::s8 && type <= Type::s64; }
constexpr bool is_bits(Type type) noexcept { return type >= Type::b8 && type <= Type::b64; }
constexpr bool is_float(Type type) noexcept { return type >= Type::f16 && type <= Type::f64; }

/// Returns true for a type of instructions that registers cannot have: its values are in registers of bits of equal
/// size.
constexpr bool is_in_bits(Type type) noexcept {
  return type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2 || type > Type::pred;
}

/// Returns the size of a value; zero for a predicate.
constexpr unsigned size_bytes(Type type) noexcept {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2: return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::u16x2:
    case Type::s16x2: return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: return 8;
    case Type::none:
    case Type::pred: break;
  }
  return 0;
}

}  // namespace cuda_cpu::ptx
