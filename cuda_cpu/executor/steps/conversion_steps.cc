// Implements cvt: converts through a 128-bit integer or a double, which hold any value exactly.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

__extension__ using Wide = __int128;

// Bits of Step::choice.
constexpr std::uint8_t kToIntegral = 1;  // .rni, .rzi, .rmi or .rpi
constexpr std::uint8_t kRelu = 2;
constexpr std::uint8_t kSatfinite = 4;

template <Type kType>
struct TypeOf;
template <>
struct TypeOf<Type::u8> {
  using type = std::uint8_t;
};
template <>
struct TypeOf<Type::u16> {
  using type = std::uint16_t;
};
template <>
struct TypeOf<Type::u32> {
  using type = std::uint32_t;
};
template <>
struct TypeOf<Type::u64> {
  using type = std::uint64_t;
};
template <>
struct TypeOf<Type::s8> {
  using type = std::int8_t;
};
template <>
struct TypeOf<Type::s16> {
  using type = std::int16_t;
};
template <>
struct TypeOf<Type::s32> {
  using type = std::int32_t;
};
template <>
struct TypeOf<Type::s64> {
  using type = std::int64_t;
};

double integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: return std::nearbyint(value);
    case Rounding::zero: return std::trunc(value);
    case Rounding::down: return std::floor(value);
    case Rounding::up: return std::ceil(value);
  }
  return value;
}

template <Type kFrom>
double read_float(Step const& step, U64 bits) {
  if constexpr (kFrom == Type::f16) return static_cast<double>(half_to_float(static_cast<U16>(bits)));
  if constexpr (kFrom == Type::bf16) return static_cast<double>(bfloat_to_float(static_cast<U16>(bits)));
  if constexpr (kFrom == Type::f64) return as_double(bits);
  float const value = as_float(static_cast<U32>(bits));
  return static_cast<double>(step.ftz ? flushed(value) : value);
}

// Clamps to the range of the type. NaN becomes zero, or only the highest bit if one of the types has 64 bits.
template <Type kTo, Type kFrom>
U64 float_to_integer(Step const& step, U64 bits) {
  using To = typename TypeOf<kTo>::type;
  using Limits = std::numeric_limits<To>;
  double const value = read_float<kFrom>(step, bits);
  if (std::isnan(value))
    return kFrom == Type::f64 || sizeof(To) == 8 ? static_cast<U64>(static_cast<To>(U64{1} << (sizeof(To) * 8 - 1)))
                                                 : 0;
  double const rounded = integral(value, step.rounding);
  // The maximum of a 64-bit integer is not a double, but the next power of two is.
  double const above = std::ldexp(1.0, static_cast<int>(sizeof(To) * 8) - (std::is_signed_v<To> ? 1 : 0));
  if (rounded >= above) return static_cast<U64>(Limits::max());
  if (rounded < static_cast<double>(Limits::min())) return static_cast<U64>(Limits::min());
  return static_cast<U64>(static_cast<To>(rounded));
}

// With .satfinite replaces an infinity of 16 bits by the greatest number.
U64 finite(Step const& step, U16 bits, U16 infinity) {
  return (step.choice & kSatfinite) != 0 && (bits & 0x7fff) == infinity ? bits - 1u : bits;
}

template <Type kTo>
U64 write_float(Step const& step, double value) {
  if (step.saturate) value = saturated(value);
  if ((step.choice & kRelu) != 0 && value < 0) value = 0;
  if constexpr (kTo == Type::f64) return bits_of(value);
  if constexpr (kTo == Type::f16) return finite(step, double_to_half(value, step.rounding), 0x7c00);
  if constexpr (kTo == Type::bf16) return finite(step, double_to_bfloat(value, step.rounding), 0x7f80);
  U32 const result = double_to_single(value, step.rounding);
  return step.ftz ? bits_of(flushed(as_float(result))) : result;
}

template <Type kTo, Type kFrom>
U64 integer_to_float(Step const& step, U64 bits) {
  using From = typename TypeOf<kFrom>::type;
  auto const value = static_cast<From>(bits);
  bool const negative = value < 0;
  U64 const magnitude = negative ? U64{0} - static_cast<U64>(value) : static_cast<U64>(value);
  if (step.saturate) return write_float<kTo>(step, negative || magnitude == 0 ? 0.0 : 1.0);
  constexpr FloatFormat kFormat = kTo == Type::f16    ? kHalf
                                  : kTo == Type::bf16 ? kBfloat
                                  : kTo == Type::f32  ? kSingle
                                                      : kDouble;
  return round_to(kFormat, negative, magnitude, 0, step.rounding);
}

template <Type kTo, Type kFrom>
U64 float_to_float(Step const& step, U64 bits) {
  double value = read_float<kFrom>(step, bits);
  if ((step.choice & kToIntegral) != 0) value = integral(value, step.rounding);
  return write_float<kTo>(step, value);
}

template <Type kTo, Type kFrom>
U64 integer_to_integer(Step const& step, U64 bits) {
  using To = typename TypeOf<kTo>::type;
  using Limits = std::numeric_limits<To>;
  auto const value = static_cast<typename TypeOf<kFrom>::type>(bits);
  if (!step.saturate) return static_cast<U64>(static_cast<To>(value));
  return static_cast<U64>(static_cast<To>(std::clamp<Wide>(Wide{value}, Wide{Limits::min()}, Wide{Limits::max()})));
}

template <Type kTo, Type kFrom>
U64 convert(Step const& step, U64 bits) {
  if constexpr (ptx::is_float(kTo)) {
    if constexpr (ptx::is_float(kFrom))
      return float_to_float<kTo, kFrom>(step, bits);
    else
      return integer_to_float<kTo, kFrom>(step, bits);
  } else {
    if constexpr (ptx::is_float(kFrom))
      return float_to_integer<kTo, kFrom>(step, bits);
    else
      return integer_to_integer<kTo, kFrom>(step, bits);
  }
}

U64 read(Warp& warp, Location from, std::uint8_t width, unsigned lane) {
  switch (width) {
    case 2: return warp.at<U16>(from)[lane];
    case 4: return warp.at<U32>(from)[lane];
    default: return warp.at<U64>(from)[lane];
  }
}
void write(Warp& warp, Location to, std::uint8_t width, unsigned lane, U64 value) {
  switch (width) {
    case 2: warp.at<U16>(to)[lane] = static_cast<U16>(value); break;
    case 4: warp.at<U32>(to)[lane] = static_cast<U32>(value); break;
    default: warp.at<U64>(to)[lane] = value;
  }
}

// Registers may be wider than the types: the upper bits are ignored when read, and written as the sign or zero.
template <Type kTo, Type kFrom>
bool cvt(Warp& warp, Step const& step, Mask lanes) {
  each_lane(lanes, [&](unsigned i) {
    write(warp, step.destination[0], step.width[0], i,
          convert<kTo, kFrom>(step, read(warp, step.source[0], step.source_width[0], i)));
  });
  return true;
}

U64 sign_extend(U32 a) { return static_cast<U64>(std::int64_t{static_cast<std::int32_t>(a)}); }
U64 zero_extend(U32 a) { return a; }
U32 low_word(U64 a) { return static_cast<U32>(a); }
U32 saturated_single(U32 a) { return bits_of(saturated(as_float(a))); }
U64 to_double(U32 a) { return bits_of(static_cast<double>(as_float(a))); }
U32 from_bfloat(U16 a) { return U32{a} << 16; }  // a NaN keeps its bits
U16 to_bfloat(U32 a) {
  if ((a & 0x7fffffff) > 0x7f800000) return kNan16;
  return static_cast<U16>((a + 0x7fff + (a >> 16 & 1)) >> 16);
}
U32 from_signed(U32 a) { return bits_of(static_cast<float>(static_cast<std::int32_t>(a))); }

// Selects a handler for a frequent conversion, which the compiler vectorizes.
Handler select_frequent(Form const& form, Step const& step) {
  std::string_view const name = form.name;
  if (step.width[0] != size_bytes(form.first_type) || step.source_width[0] != size_bytes(form.type)) return nullptr;
  if (name == "cvt.s64.s32") return map<&sign_extend>;
  if (name == "cvt.u64.u32") return map<&zero_extend>;
  if (name == "cvt.u32.u64") return map<&low_word>;
  if (name == "cvt.sat.f32.f32") return map<&saturated_single>;
  if (name == "cvt.f64.f32") return map<&to_double>;
  if (name == "cvt.rn.f32.s32") return map<&from_signed>;
  if (name == "cvt.f32.bf16") return map<&from_bfloat>;
  if (name == "cvt.rn.bf16.f32") return map<&to_bfloat>;
  return nullptr;
}

template <Type kTo>
Handler select_from(Type from) {
  switch (from) {
    case Type::u8: return cvt<kTo, Type::u8>;
    case Type::u16: return cvt<kTo, Type::u16>;
    case Type::u32: return cvt<kTo, Type::u32>;
    case Type::u64: return cvt<kTo, Type::u64>;
    case Type::s8: return cvt<kTo, Type::s8>;
    case Type::s16: return cvt<kTo, Type::s16>;
    case Type::s32: return cvt<kTo, Type::s32>;
    case Type::s64: return cvt<kTo, Type::s64>;
    case Type::f16: return cvt<kTo, Type::f16>;
    case Type::bf16: return cvt<kTo, Type::bf16>;
    case Type::f32: return cvt<kTo, Type::f32>;
    case Type::f64: return cvt<kTo, Type::f64>;
    default: return nullptr;
  }
}

// Converts two floats to a pair of halves or bfloats; the first float becomes the upper half.
template <Type kHalf>
bool cvt_pair(Warp& warp, Step const& step, Mask lanes) {
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]);
  U32* const to = warp.at<U32>(step.destination[0]);
  auto const half = [&step](U32 bits) { return write_float<kHalf>(step, static_cast<double>(as_float(bits))); };
  each_lane(lanes, [&](unsigned i) { to[i] = static_cast<U32>(half(a[i]) << 16 | half(b[i])); });
  return true;
}

using ToByte = std::uint8_t (*)(double) noexcept;
using FromByte = U16 (*)(std::uint8_t) noexcept;

// Converts two floats, the first for the upper byte, or a pair of halves.
template <ToByte kConvert, bool kFromHalves>
bool cvt_to_bytes(Warp& warp, Step const& step, Mask lanes) {
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[kFromHalves ? 0 : 1]);
  U16* const to = warp.at<U16>(step.destination[0]);
  auto const byte = [&step](float value) {
    bool const clamps = (step.choice & kRelu) != 0 && value < 0;
    return U32{kConvert(clamps ? 0 : static_cast<double>(value))};
  };
  each_lane(lanes, [&](unsigned i) {
    float const upper = kFromHalves ? half_to_float(static_cast<U16>(a[i] >> 16)) : as_float(a[i]);
    float const lower = kFromHalves ? half_to_float(static_cast<U16>(a[i])) : as_float(b[i]);
    to[i] = static_cast<U16>(byte(upper) << 8 | byte(lower));
  });
  return true;
}

template <FromByte kConvert>
bool cvt_from_bytes(Warp& warp, Step const& step, Mask lanes) {
  U16 const* const a = warp.at<U16>(step.source[0]);
  U32* const to = warp.at<U32>(step.destination[0]);
  auto const half = [&step](unsigned byte) {
    U16 const value = kConvert(static_cast<std::uint8_t>(byte));
    bool const clamps = (step.choice & kRelu) != 0 && value > 0x8000;
    return U32{clamps ? U16{0} : value};
  };
  each_lane(lanes, [&](unsigned i) { to[i] = half(a[i] >> 8u) << 16 | half(a[i] & 255u); });
  return true;
}

Handler select_bytes(Form const& form) {
  bool const halves = form.type == Type::f16x2;
  if (form.first_type == Type::e4m3x2)
    return halves ? cvt_to_bytes<&double_to_e4m3, true> : cvt_to_bytes<&double_to_e4m3, false>;
  if (form.first_type == Type::e5m2x2)
    return halves ? cvt_to_bytes<&double_to_e5m2, true> : cvt_to_bytes<&double_to_e5m2, false>;
  if (form.type == Type::e4m3x2) return cvt_from_bytes<&e4m3_to_half>;
  return form.type == Type::e5m2x2 ? cvt_from_bytes<&e5m2_to_half> : nullptr;
}

enum class Tf32Rounding : std::uint8_t { nearest_away, nearest, zero };

// Rounds to the ten stored bits of the significand of tf32; NaN becomes the canonical NaN.
template <Tf32Rounding kRounding, bool kRelu>
U32 to_tf32(U32 bits) {
  constexpr U32 kLow = 0x1fff;
  if ((bits & 0x7fffffff) > 0x7f800000) return kNan32;
  if (kRelu && (bits & 0x80000000) != 0) return 0;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  if (kRounding == Tf32Rounding::nearest_away) bits += 0x1000;  // right also if it carries into the exponent
  if (kRounding == Tf32Rounding::nearest) bits += 0xfff + (bits >> 13 & 1);
  return bits & ~kLow;
}

Handler select_tf32(Form const& form) {
  if (form.has("rna")) return map<&to_tf32<Tf32Rounding::nearest_away, false>>;
  bool const relu = form.has("relu");
  if (form.has("rn"))
    return relu ? map<&to_tf32<Tf32Rounding::nearest, true>> : map<&to_tf32<Tf32Rounding::nearest, false>>;
  return relu ? map<&to_tf32<Tf32Rounding::zero, true>> : map<&to_tf32<Tf32Rounding::zero, false>>;
}

// cvt.pack: puts two numbers, saturated, below the lower bits of a third operand.
template <class T>
bool cvt_pack(Warp& warp, Step const& step, Mask lanes) {
  constexpr unsigned kBits = sizeof(T) * 8;
  auto const part = [&](std::size_t source, unsigned lane) {
    auto const value = static_cast<std::int32_t>(warp.at<U32>(step.source[source])[lane]);
    auto const saturated =
        std::clamp<std::int32_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return U32{static_cast<std::make_unsigned_t<T>>(saturated)};
  };
  each_lane(lanes, [&](unsigned lane) {
    U32 packed = part(0, lane) << kBits | part(1, lane);
    if constexpr (kBits == 8) packed |= warp.at<U32>(step.source[2])[lane] << 16;
    warp.at<U32>(step.destination[0])[lane] = packed;
  });
  return true;
}

Handler select_pack(Type type) {
  switch (type) {
    case Type::s8: return cvt_pack<std::int8_t>;
    case Type::u8: return cvt_pack<std::uint8_t>;
    case Type::s16: return cvt_pack<std::int16_t>;
    case Type::u16: return cvt_pack<std::uint16_t>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_conversion(Form const& form, Step& step) {
  if (form.opcode() != "cvt") return nullptr;
  if (form.has("tf32")) return select_tf32(form);
  if (form.has("pack")) return select_pack(form.first_type);
  for (std::string_view const word : {"rni", "rzi", "rmi", "rpi"})
    if (form.has(word)) step.choice = kToIntegral;
  if (form.has("relu")) step.choice |= kRelu;
  if (form.has("satfinite")) step.choice |= kSatfinite;
  if (Handler const bytes = select_bytes(form)) return bytes;
  if (Handler const frequent = select_frequent(form, step)) return frequent;
  switch (form.first_type) {
    case Type::u8: return select_from<Type::u8>(form.type);
    case Type::u16: return select_from<Type::u16>(form.type);
    case Type::u32: return select_from<Type::u32>(form.type);
    case Type::u64: return select_from<Type::u64>(form.type);
    case Type::s8: return select_from<Type::s8>(form.type);
    case Type::s16: return select_from<Type::s16>(form.type);
    case Type::s32: return select_from<Type::s32>(form.type);
    case Type::s64: return select_from<Type::s64>(form.type);
    case Type::f16: return select_from<Type::f16>(form.type);
    case Type::f16x2: return cvt_pair<Type::f16>;
    case Type::bf16: return select_from<Type::bf16>(form.type);
    case Type::bf16x2: return cvt_pair<Type::bf16>;
    case Type::f32: return select_from<Type::f32>(form.type);
    case Type::f64: return select_from<Type::f64>(form.type);
    default: return nullptr;
  }
}

}  // namespace cuda_cpu
