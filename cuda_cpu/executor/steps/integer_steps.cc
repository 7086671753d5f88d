// Implements integers: two's complement arithmetic that wraps.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
using Bits = std::make_unsigned_t<T>;

// T is the type of the form; operands and results are its bits. Small types would be promoted to int, whose products
// may overflow, so we compute in at least 32 unsigned bits.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, Bits<T>>;

template <class T>
Bits<T> add(Bits<T> a, Bits<T> b) {
  return static_cast<Bits<T>>(Wrapping<T>{a} + Wrapping<T>{b});
}
template <class T>
Bits<T> sub(Bits<T> a, Bits<T> b) {
  return static_cast<Bits<T>>(Wrapping<T>{a} - Wrapping<T>{b});
}
template <class T>
Bits<T> mul_lo(Bits<T> a, Bits<T> b) {
  return static_cast<Bits<T>>(Wrapping<T>{a} * Wrapping<T>{b});
}
template <class T>
Bits<T> mul_hi(Bits<T> a, Bits<T> b) {
  if constexpr (sizeof(T) == 8) {
    using Product = std::conditional_t<std::is_signed_v<T>, Wide, UnsignedWide>;
    return static_cast<Bits<T>>((Product{static_cast<T>(a)} * Product{static_cast<T>(b)}) >> 64);
  } else {
    // Products have exactly twice the width. If signed 16-bit integers were multiplied in 64 bits, GCC 12 would
    // vectorize the upper half as if they were unsigned.
    using Product =
        std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    return static_cast<Bits<T>>((Product{static_cast<T>(a)} * Product{static_cast<T>(b)}) >> (sizeof(T) * 8));
  }
}
template <class T>
using Twice = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>;
template <class T>
Twice<T> mul_wide(Bits<T> a, Bits<T> b) {
  return static_cast<Twice<T>>(std::int64_t{static_cast<T>(a)} * std::int64_t{static_cast<T>(b)});
}
template <>
Twice<std::uint32_t> mul_wide<std::uint32_t>(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{a} * b;
}
template <class T>
Bits<T> mad_lo(Bits<T> a, Bits<T> b, Bits<T> c) {
  return add<T>(mul_lo<T>(a, b), c);
}
template <class T>
Bits<T> mad_hi(Bits<T> a, Bits<T> b, Bits<T> c) {
  return add<T>(mul_hi<T>(a, b), c);
}
template <class T>
Twice<T> mad_wide(Bits<T> a, Bits<T> b, Twice<T> c) {
  return mul_wide<T>(a, b) + c;
}

// PTX does not specify the result of a division by zero. Devices give all ones, and the dividend as the remainder.
template <class T>
Bits<T> div(Bits<T> a, Bits<T> b) {
  if (b == 0) return std::numeric_limits<Bits<T>>::max();
  if (std::is_signed_v<T> && b == std::numeric_limits<Bits<T>>::max()) return sub<T>(0, a);
  return static_cast<Bits<T>>(static_cast<T>(a) / static_cast<T>(b));
}
template <class T>
Bits<T> rem(Bits<T> a, Bits<T> b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == std::numeric_limits<Bits<T>>::max()) return 0;
  return static_cast<Bits<T>>(static_cast<T>(a) % static_cast<T>(b));
}
template <class T>
Bits<T> min(Bits<T> a, Bits<T> b) {
  return static_cast<T>(a) < static_cast<T>(b) ? a : b;
}
template <class T>
Bits<T> max(Bits<T> a, Bits<T> b) {
  return static_cast<T>(a) < static_cast<T>(b) ? b : a;
}
template <class T>
Bits<T> sad(Bits<T> a, Bits<T> b, Bits<T> c) {
  return add<T>(c, sub<T>(max<T>(a, b), min<T>(a, b)));
}
template <class T>
Bits<T> neg(Bits<T> a) {
  return sub<T>(0, a);
}
template <class T>
Bits<T> abs(Bits<T> a) {
  return static_cast<T>(a) < 0 ? neg<T>(a) : a;
}

std::uint32_t clamp32(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                             std::numeric_limits<std::int32_t>::max()));
}
std::int64_t wide(std::uint32_t value) { return static_cast<std::int32_t>(value); }
std::uint32_t add_sat(std::uint32_t a, std::uint32_t b) { return clamp32(wide(a) + wide(b)); }
std::uint32_t sub_sat(std::uint32_t a, std::uint32_t b) { return clamp32(wide(a) - wide(b)); }
std::uint32_t mad_hi_sat(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return clamp32(wide(mul_hi<std::int32_t>(a, b)) + wide(c));
}

// Applies a function to two integers of 16 bits each.
template <class T, Bits<T> (*kFunction)(Bits<T>, Bits<T>)>
std::uint32_t pair(std::uint32_t a, std::uint32_t b) {
  auto const part = [=](unsigned shift) {
    return std::uint32_t{kFunction(static_cast<Bits<T>>(a >> shift), static_cast<Bits<T>>(b >> shift))} << shift;
  };
  return part(16) | part(0);
}
template <class T>
Bits<T> min_relu(Bits<T> a, Bits<T> b) {
  return max<T>(min<T>(a, b), 0);
}
template <class T>
Bits<T> max_relu(Bits<T> a, Bits<T> b) {
  return max<T>(max<T>(a, b), 0);
}

// Returns the 48-bit product of the lower 24 bits.
template <bool kSigned>
std::uint64_t product24(std::uint32_t a, std::uint32_t b) {
  if constexpr (kSigned) {
    auto const low = [](std::uint32_t x) { return std::int64_t{static_cast<std::int32_t>(x << 8) >> 8}; };
    return static_cast<std::uint64_t>(low(a) * low(b));
  }
  return std::uint64_t{a & 0xffffff} * (b & 0xffffff);
}
template <bool kSigned>
std::uint32_t mul24_lo(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(product24<kSigned>(a, b));
}
template <bool kSigned>
std::uint32_t mul24_hi(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(product24<kSigned>(a, b) >> 16);
}
template <bool kSigned>
std::uint32_t mad24_lo(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return mul24_lo<kSigned>(a, b) + c;
}
template <bool kSigned>
std::uint32_t mad24_hi(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return mul24_hi<kSigned>(a, b) + c;
}

template <class A, class B>
std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (unsigned i = 0; i < 32; i += 8)
    c += static_cast<std::uint32_t>(std::int32_t{static_cast<A>(a >> i)} * std::int32_t{static_cast<B>(b >> i)});
  return c;
}
// Multiplies the halves of a with two bytes of b, the lower or the upper two, and adds the products to c.
template <class A, class B, unsigned kShift>
std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (unsigned i = 0; i < 2; ++i) {
    c += static_cast<std::uint32_t>(std::int32_t{static_cast<A>(a >> (16 * i))} *
                                    std::int32_t{static_cast<B>(b >> (kShift + 8 * i))});
  }
  return c;
}

template <class T>
Handler select_typed(Form const& form) {
  std::string_view const op = form.opcode();
  bool const high = form.has("hi");
  if (op == "add") return map<&add<T>>;
  if (op == "sub") return map<&sub<T>>;
  if (op == "div") return map<&div<T>>;
  if (op == "rem") return map<&rem<T>>;
  if (op == "min") return map<&min<T>>;
  if (op == "max") return map<&max<T>>;
  if (op == "sad") return map<&sad<T>>;
  if constexpr (std::is_signed_v<T>) {
    if (op == "neg") return map<&neg<T>>;
    if (op == "abs") return map<&abs<T>>;
  }
  if constexpr (sizeof(T) < 8) {
    if (op == "mul" && form.has("wide")) return map<&mul_wide<T>>;
    if (op == "mad" && form.has("wide")) return map<&mad_wide<T>>;
  }
  if (op == "mul") return high ? map<&mul_hi<T>> : map<&mul_lo<T>>;
  if (op == "mad") return high ? map<&mad_hi<T>> : map<&mad_lo<T>>;
  return nullptr;
}

template <class T>
Handler select_pair(Form const& form) {
  bool const relu = form.has("relu");
  if (form.opcode() == "add") return map<&pair<T, add<T>>>;
  if (form.opcode() == "min") return relu ? map<&pair<T, min_relu<T>>> : map<&pair<T, min<T>>>;
  return relu ? map<&pair<T, max_relu<T>>> : map<&pair<T, max<T>>>;
}

template <class A, class B>
Handler select_dot(Form const& form) {
  using Half = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  if (form.opcode() == "dp4a") return map<&dp4a<A, B>>;
  return form.has("lo") ? map<&dp2a<Half, B, 0>> : map<&dp2a<Half, B, 16>>;
}

Handler select_24(Form const& form) {
  bool const is_mul = form.opcode() == "mul24";
  if (form.type == Type::s32) {
    if (is_mul) return form.has("hi") ? map<&mul24_hi<true>> : map<&mul24_lo<true>>;
    return form.has("hi") ? map<&mad24_hi<true>> : map<&mad24_lo<true>>;
  }
  if (is_mul) return form.has("hi") ? map<&mul24_hi<false>> : map<&mul24_lo<false>>;
  return form.has("hi") ? map<&mad24_hi<false>> : map<&mad24_lo<false>>;
}

}  // namespace

Handler select_integer(Form const& form, Step&) {
  std::string_view const op = form.opcode();
  static constexpr std::string_view kOpcodes[] = {"add", "sub", "mul", "mad", "div", "rem",
                                                  "min", "max", "sad", "neg", "abs"};
  if (op == "mul24" || op == "mad24") return select_24(form);
  if (op == "dp4a" || op == "dp2a") {
    if (form.first_type == Type::s32)
      return form.type == Type::s32 ? select_dot<std::int8_t, std::int8_t>(form)
                                    : select_dot<std::int8_t, std::uint8_t>(form);
    return form.type == Type::s32 ? select_dot<std::uint8_t, std::int8_t>(form)
                                  : select_dot<std::uint8_t, std::uint8_t>(form);
  }
  if (std::ranges::find(kOpcodes, op) == std::end(kOpcodes) || form.has("cc")) return nullptr;
  if (form.type == Type::s16x2) return select_pair<std::int16_t>(form);
  if (form.type == Type::u16x2) return select_pair<std::uint16_t>(form);
  if (form.has("relu") && form.type == Type::s32)
    return op == "min" ? map<&min_relu<std::int32_t>> : map<&max_relu<std::int32_t>>;
  if (form.has("sat") && form.type == Type::s32)
    return op == "add" ? map<&add_sat> : op == "sub" ? map<&sub_sat> : map<&mad_hi_sat>;
  switch (form.type) {
    case Type::u16: return select_typed<std::uint16_t>(form);
    case Type::s16: return select_typed<std::int16_t>(form);
    case Type::u32: return select_typed<std::uint32_t>(form);
    case Type::s32: return select_typed<std::int32_t>(form);
    case Type::u64: return select_typed<std::uint64_t>(form);
    case Type::s64: return select_typed<std::int64_t>(form);
    default: return nullptr;
  }
}

}  // namespace cuda_cpu
