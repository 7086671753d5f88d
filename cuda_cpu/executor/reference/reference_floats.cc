// Computes floating-point instructions: 32 and 64 bits by the processor, which is set to the rounding mode of the
// instruction, 16 bits by exact arithmetic. A volatile variable keeps a computation between two changes of the mode.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cuda_cpu/executor/reference/reference.h"

namespace cuda_cpu::reference {
namespace {

using ptx::Form;
using ptx::Type;

struct Mode {
  explicit Mode(Form const& form) {
    std::fesetround(form.has("rz")   ? FE_TOWARDZERO
                    : form.has("rm") ? FE_DOWNWARD
                    : form.has("rp") ? FE_UPWARD
                                     : FE_TONEAREST);
  }
  Mode(Mode const&) = delete;
  Mode& operator=(Mode const&) = delete;
  ~Mode() { std::fesetround(FE_TONEAREST); }
};

template <class T>
std::optional<T> arithmetic(Form const& form, T x, T y, T z) {
  std::string_view const op = form.opcode();
  T const volatile a = x, b = y, c = z;
  T volatile result = 0;
  Mode const mode(form);
  if (op == "add")
    result = a + b;
  else if (op == "sub")
    result = a - b;
  else if (op == "mul")
    result = a * b;
  else if (op == "fma" || op == "mad")
    result = std::fma(a, b, c);
  else if (op == "div")
    result = a / b;
  else if (op == "rcp")
    result = T{1} / a;
  else if (op == "sqrt")
    result = std::sqrt(a);
  else
    return std::nullopt;
  return result;
}

template <class T>
T extreme(Form const& form, T x, T y) {
  if (std::isnan(x) || std::isnan(y)) {
    if (form.has("NaN") || (std::isnan(x) && std::isnan(y))) return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(x) ? y : x;
  }
  bool const x_is_less = x < y || (x == y && std::signbit(x));
  return (form.opcode() == "min") == x_is_less ? x : y;
}

Bits single_bits(float value) { return std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(value); }
float flushed(Form const& form, float value) {
  return form.has("ftz") && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
template <class T>
T saturated(Form const& form, T value) {
  if (!form.has("sat")) return value;
  return std::isnan(value) || value <= 0 ? T{0} : value > 1 ? T{1} : value;
}

template <class T>
bool has_property(std::string_view property, T value) {
  int const kind = std::fpclassify(value);
  if (property == "finite") return kind != FP_NAN && kind != FP_INFINITE;
  if (property == "infinite") return kind == FP_INFINITE;
  if (property == "number") return kind != FP_NAN;
  if (property == "notanumber") return kind == FP_NAN;
  return property == "normal" ? kind == FP_NORMAL || kind == FP_ZERO : kind == FP_SUBNORMAL;
}

template <class T, class Word>
std::optional<Outcome> wide(Form const& form, std::span<Bits const> s) {
  std::string_view const op = form.opcode();
  auto const at = [&](std::size_t i) { return static_cast<Word>(i < s.size() ? s[i] : 0); };
  auto const value = [&](std::size_t i) {
    T const v = std::bit_cast<T>(at(i));
    if constexpr (sizeof(T) == 4)
      return flushed(form, v);
    else
      return v;
  };
  auto const made = [&](T v) {
    if constexpr (sizeof(T) == 4)
      return Outcome{single_bits(saturated(form, flushed(form, v)))};
    else
      return Outcome{std::bit_cast<Word>(v)};
  };
  Word const sign = Word{1} << (sizeof(T) * 8 - 1);
  if (op == "testp") return Outcome{0, has_property(form.words[1], std::bit_cast<T>(at(0)))};
  if (op == "copysign") return Outcome{(at(0) & sign) | (at(1) & static_cast<Word>(~sign))};
  if (op == "neg" || op == "abs") {
    T const v = value(0);
    // The sign of a NaN is not specified. neg and abs keep its bits; with .ftz they give the canonical NaN.
    if (std::isnan(v) && form.has("ftz")) return Outcome{0x7fffffff};
    Word const bits = std::bit_cast<Word>(v);
    return Outcome{op == "neg" ? static_cast<Word>(bits ^ sign) : static_cast<Word>(bits & ~sign)};
  }
  if (op == "min" || op == "max") return made(extreme(form, value(0), value(1)));
  if (auto const result = arithmetic<T>(form, value(0), value(1), value(2))) return made(*result);
  return std::nullopt;
}

double double_of(Format const& format, Bits bits) {
  if (is_nan(format, bits)) return std::numeric_limits<double>::quiet_NaN();
  double const sign = (bits & format.sign) != 0 ? -1 : 1;
  return is_infinite(format, bits) ? sign * std::numeric_limits<double>::infinity()
                                   : std::copysign(static_cast<double>(value_of(format, bits)), sign);
}

Bits of_double(Format const& format, double value) {
  if (std::isnan(value)) return format.nan;
  Bits const sign = std::signbit(value) ? format.sign : 0;
  return std::isinf(value) ? format.infinity | sign : rounded(format, static_cast<Exact>(std::fabs(value))) | sign;
}

std::optional<Bits> narrow(Form const& form, Format const& format, Bits x, Bits y, Bits z) {
  std::string_view const op = form.opcode();
  auto const flush = [&](Bits bits) {
    Bits const magnitude = bits & 0x7fff;
    return form.has("ftz") && magnitude < Bits{1} << format.fraction_bits ? bits & 0x8000 : bits & 0xffff;
  };
  x = flush(x), y = flush(y), z = flush(z);
  if (op == "neg") return x ^ 0x8000;
  if (op == "abs") return x & 0x7fff;
  double const a = double_of(format, x), b = double_of(format, y), c = double_of(format, z);
  double value = 0;  // right for NaN, infinities and the sign of zero
  Exact exact = 0;
  bool const finite = std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
  if (op == "min" || op == "max") return flush(of_double(format, extreme(form, a, b)));
  if (op == "add")
    value = a + b, exact = finite ? sum(Exact{a}, Exact{b}) : Exact{0};
  else if (op == "sub")
    value = a - b, exact = finite ? sum(Exact{a}, -Exact{b}) : Exact{0};
  else if (op == "mul")
    value = a * b, exact = finite ? Exact{a} * Exact{b} : Exact{0};
  else if (op == "fma")
    value = std::fma(a, b, c), exact = finite ? sum(Exact{a} * Exact{b}, Exact{c}) : Exact{0};
  else
    return std::nullopt;
  if (form.has("sat") && !(value > 0)) return 0;
  if (form.has("sat") && value > 1) return of_double(format, 1);
  if (form.has("relu") && value < 0) return 0;
  if (exact == 0) return flush(of_double(format, value));
  return flush(rounded(format, exact));
}

std::optional<Outcome> narrow_outcome(Form const& form, std::span<Bits const> s) {
  bool const half = form.type == Type::f16 || form.type == Type::f16x2;
  bool const pair = form.type == Type::f16x2 || form.type == Type::bf16x2;
  auto const part = [&](unsigned shift) {
    auto const at = [&](std::size_t i) { return i < s.size() ? s[i] >> shift & 0xffff : Bits{0}; };
    return narrow(form, half ? kHalf : kBfloat, at(0), at(1), at(2));
  };
  auto const low = part(0);
  if (!low) return std::nullopt;
  return Outcome{pair ? *part(16) << 16 | *low : *low};
}

// A source of a conversion: an integer, a finite float, an infinity or a NaN.
struct Value {
  bool is_integer = false, is_nan = false, negative = false;
  Int whole = 0;
  double number = 0;  // value of a float
};

Value value_of_source(Form const& form, Bits bits) {
  Value made;
  switch (form.type) {
    case Type::f16: made.number = double_of(kHalf, bits & 0xffff); break;
    case Type::bf16: made.number = double_of(kBfloat, bits & 0xffff); break;
    case Type::f32: made.number = double{flushed(form, std::bit_cast<float>(static_cast<std::uint32_t>(bits)))}; break;
    case Type::f64: made.number = std::bit_cast<double>(bits); break;
    default: made.is_integer = true; made.whole = integer(bits, form.type);
  }
  made.is_nan = std::isnan(made.number);
  return made;
}

// Returns the integer that .rni, .rzi, .rmi or .rpi gives.
double integral(Form const& form, double value) {
  double const below = std::floor(value), above = std::ceil(value);
  if (form.has("rzi")) return value < 0 ? above : below;
  if (form.has("rmi")) return below;
  if (form.has("rpi")) return above;
  if (value - below != above - value) return value - below < above - value ? below : above;
  return std::fmod(below, 2) == 0 ? below : above;
}

Bits to_integer(Form const& form, Type to, Value const& from) {
  unsigned const size = 8 * ptx::size_bytes(to);
  Int const least = ptx::is_signed(to) ? -(Int{1} << (size - 1)) : Int{0};
  Int const greatest = (Int{1} << (ptx::is_signed(to) ? size - 1 : size)) - 1;
  if (from.is_integer)
    return static_cast<Bits>(form.has("sat") ? std::min(std::max(from.whole, least), greatest) : from.whole);
  if (from.is_nan) return form.type == Type::f64 || size == 64 ? Bits{1} << (size - 1) : 0;
  double const value = integral(form, from.number);
  if (value >= 0x1p64) return static_cast<Bits>(greatest);
  if (value <= -0x1p64) return static_cast<Bits>(least);
  return static_cast<Bits>(std::min(std::max(static_cast<Int>(value), least), greatest));
}

Bits to_wide(Form const& form, Type to, Value const& from) {
  Mode const mode(form);
  double volatile number = from.number;
  float volatile single = 0;
  // Use an unsigned integer only where it is needed: by Clang's code zero becomes minus zero when it rounds down.
  if (from.is_integer && from.whole < (Int{1} << 63)) {
    std::int64_t const volatile whole = static_cast<std::int64_t>(from.whole);
    number = static_cast<double>(whole);
    single = static_cast<float>(whole);
  } else if (from.is_integer) {
    std::uint64_t const volatile whole = static_cast<std::uint64_t>(from.whole);
    number = static_cast<double>(whole);
    single = static_cast<float>(whole);
  } else {
    single = static_cast<float>(number);
  }
  if (to == Type::f64) return std::bit_cast<Bits>(saturated(form, double{number}));
  return single_bits(flushed(form, saturated(form, float{single})));
}

Bits to_narrow(Form const& form, Format const& format, Value const& from) {
  bool const clamps = form.has("satfinite");
  if (from.is_nan) return form.has("sat") ? 0 : format.nan;
  bool const negative = from.is_integer ? from.whole < 0 : std::signbit(from.number);
  Bits const sign = negative ? format.sign : 0;
  Exact exact = from.is_integer ? static_cast<Exact>(from.whole) : Exact{from.number};
  if (form.has("sat") && exact <= 0) return 0;
  if (form.has("sat") && exact > 1) exact = 1;
  if (form.has("relu") && exact < 0) return 0;
  if (!from.is_integer && std::isinf(from.number) && !form.has("sat"))
    return (clamps ? format.greatest : format.infinity) | sign;
  std::string_view const mode = form.has("rz") ? "rz" : form.has("rm") ? "rm" : form.has("rp") ? "rp" : "rn";
  return rounded(format, exact, mode, clamps) | (exact == 0 ? sign : 0);
}

Bits single_conversion(Form const& form, Type to, Bits source) {
  Value from = value_of_source(form, source);
  bool const to_integral = form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi");
  if (!ptx::is_float(to)) return to_integer(form, to, from);
  if (to_integral && std::isfinite(from.number)) from.number = std::copysign(integral(form, from.number), from.number);
  if (to == Type::f16) return to_narrow(form, kHalf, from);
  if (to == Type::bf16) return to_narrow(form, kBfloat, from);
  if (form.name == "cvt.f32.bf16") return source << 16;  // a NaN keeps its bits
  return to_wide(form, to, from);
}

// Converts pairs of numbers to and from bytes.
Bits byte_conversion(Form const& form, Type to, std::span<Bits const> s) {
  Format const& bytes = to == Type::e4m3x2 || form.type == Type::e4m3x2 ? kE4m3 : kE5m2;
  Bits result = 0;
  for (unsigned upper : {0u, 1u}) {
    Value from;
    if (form.type == Type::f32)
      from.number = double{std::bit_cast<float>(static_cast<std::uint32_t>(s[1 - upper]))};
    else if (form.type == Type::f16x2)
      from.number = double_of(kHalf, s[0] >> (16 * upper) & 0xffff);
    else
      from.number = double_of(bytes, s[0] >> (8 * upper) & 0xff);
    from.is_nan = std::isnan(from.number);
    if (to == Type::f16x2)
      result |= to_narrow(form, kHalf, from) << (16 * upper);
    else
      result |= to_narrow(form, bytes, from) << (8 * upper);
  }
  return result;
}

}  // namespace

std::optional<Outcome> float_outcome(Form const& form, std::span<Bits const> sources) {
  if (form.has("approx") || form.has("full") || form.opcode() == "cvt" || form.opcode() == "mov") return std::nullopt;
  switch (form.type) {
    case Type::f32: return wide<float, std::uint32_t>(form, sources);
    case Type::f64: return wide<double, std::uint64_t>(form, sources);
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2: return narrow_outcome(form, sources);
    default: return std::nullopt;
  }
}

std::optional<Outcome> conversion_outcome(Form const& form, std::span<Bits const> sources) {
  if (form.opcode() == "mov" && ptx::is_float(form.type)) return Outcome{sources[0]};
  if (form.opcode() != "cvt" || form.has("tf32") || form.has("pack")) return std::nullopt;
  Type const to = form.first_type;
  auto const is_bytes = [](Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; };
  if (is_bytes(to) || is_bytes(form.type)) return Outcome{byte_conversion(form, to, sources)};
  if (to != Type::f16x2 && to != Type::bf16x2) return Outcome{single_conversion(form, to, sources[0])};
  Type const half = to == Type::f16x2 ? Type::f16 : Type::bf16;
  return Outcome{single_conversion(form, half, sources[0]) << 16 | single_conversion(form, half, sources[1])};
}

namespace {

long double number(Form const& form, Type type, Bits bits, bool& nan) {
  double value = 0;
  switch (type) {
    case Type::f16: value = double_of(kHalf, bits & 0xffff); break;
    case Type::bf16: value = double_of(kBfloat, bits & 0xffff); break;
    case Type::f32: value = double{flushed(form, std::bit_cast<float>(static_cast<std::uint32_t>(bits)))}; break;
    default: value = std::bit_cast<double>(bits);
  }
  // With .ftz a half below the normal numbers is flushed.
  if (type == Type::f16 && form.has("ftz") && std::fabs(value) < 0x1p-14) value = 0;
  nan = nan || std::isnan(value);
  return value;
}

template <class T>
bool holds(std::string_view relation, T x, T y) {
  if (relation == "eq") return x == y;
  if (relation == "ne") return x != y;
  if (relation == "lt" || relation == "lo") return x < y;
  if (relation == "le" || relation == "ls") return x <= y;
  if (relation == "gt" || relation == "hi") return x > y;
  return x >= y;
}

bool compared(Form const& form, Type type, Bits a, Bits b) {
  std::string_view const name = form.words[1];
  if (!ptx::is_float(type)) return holds(name, integer(a, type), integer(b, type));
  bool nan = false;
  long double const x = number(form, type, a, nan), y = number(form, type, b, nan);
  if (name == "num" || name == "nan") return (name == "nan") == nan;
  return nan ? name.size() == 3 : holds(name.substr(0, 2), x, y);
}

bool combined(Form const& form, bool result, std::span<Bits const> s) {
  bool const other = s.size() > 2 && s[2] != 0;
  if (form.words[2] == "and") return result && other;
  if (form.words[2] == "or") return result || other;
  return form.words[2] == "xor" ? result != other : result;
}

Bits value_of_true(Type to) {
  switch (to) {
    case Type::f32: return 0x3f800000;
    case Type::f16: return 0x3c00;
    case Type::bf16: return 0x3f80;
    default: return ~Bits{0};
  }
}

}  // namespace

std::optional<Outcome> comparison_outcome(Form const& form, std::span<Bits const> s) {
  std::string_view const op = form.opcode();
  if (op == "selp") return Outcome{s[2] != 0 ? s[0] : s[1]};
  if (op == "slct") {
    if (form.type == Type::s32) return Outcome{integer(s[2], Type::s32) >= 0 ? s[0] : s[1]};
    float const by = std::bit_cast<float>(static_cast<std::uint32_t>(s[2]));
    return Outcome{by >= 0 || flushed(form, by) == 0 ? s[0] : s[1]};
  }
  if (op != "setp" && op != "set") return std::nullopt;
  if (form.type != Type::f16x2 && form.type != Type::bf16x2) {
    bool const result = compared(form, form.type, s[0], s[1]);
    bool const first = combined(form, result, s), second = combined(form, !result, s);
    return Outcome{first && op == "set" ? value_of_true(form.first_type) : 0, first, second};
  }
  Type const half = form.type == Type::f16x2 ? Type::f16 : Type::bf16;
  bool const first = combined(form, compared(form, half, s[0], s[1]), s);
  bool const second = combined(form, compared(form, half, s[0] >> 16, s[1] >> 16), s);
  Bits const one = (ptx::is_float(form.first_type) ? value_of_true(half) : ~Bits{0}) & 0xffff;
  return Outcome{(first ? one : 0) | (second ? one << 16 : 0), first, second};
}

}  // namespace cuda_cpu::reference
