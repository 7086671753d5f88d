// Implements single and double precision.
#include <type_traits>

#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

enum class Operation { add, sub, mul, fma, div, rcp, sqrt };

template <Operation kOperation, class T>
T compute(T a, T b, T c) {
  if constexpr (kOperation == Operation::add) return a + b;
  if constexpr (kOperation == Operation::sub) return a - b;
  if constexpr (kOperation == Operation::mul) return a * b;
  if constexpr (kOperation == Operation::fma) return std::fma(a, b, c);
  if constexpr (kOperation == Operation::div) return a / b;
  if constexpr (kOperation == Operation::rcp) return T{1} / a;
  if constexpr (kOperation == Operation::sqrt) return std::sqrt(a);
  return T{};
}

template <bool kFtz, bool kSat>
U32 finished(float value) {
  if (kFtz) value = flushed(value);
  if (kSat) value = saturated(value);
  return bits_of(value);
}
template <bool kFtz>
float taken(U32 bits) {
  return kFtz ? flushed(as_float(bits)) : as_float(bits);
}

template <Operation kOperation, bool kFtz, bool kSat>
struct Single {
  static U32 of_1(U32 a) { return finished<kFtz, kSat>(compute<kOperation, float>(taken<kFtz>(a), 0, 0)); }
  static U32 of_2(U32 a, U32 b) {
    return finished<kFtz, kSat>(compute<kOperation, float>(taken<kFtz>(a), taken<kFtz>(b), 0));
  }
  static U32 of_3(U32 a, U32 b, U32 c) {
    return finished<kFtz, kSat>(compute<kOperation, float>(taken<kFtz>(a), taken<kFtz>(b), taken<kFtz>(c)));
  }
};
template <Operation kOperation>
struct Double {
  static U64 of_1(U64 a) { return bits_of(compute<kOperation, double>(as_double(a), 0, 0)); }
  static U64 of_2(U64 a, U64 b) { return bits_of(compute<kOperation, double>(as_double(a), as_double(b), 0)); }
  static U64 of_3(U64 a, U64 b, U64 c) {
    return bits_of(compute<kOperation, double>(as_double(a), as_double(b), as_double(c)));
  }
};

template <Operation kOperation, class Lane>
Handler select_arity() {
  if constexpr (kOperation == Operation::fma)
    return map_rounded<&Lane::of_3>;
  else if constexpr (kOperation == Operation::rcp || kOperation == Operation::sqrt)
    return map_rounded<&Lane::of_1>;
  else
    return map_rounded<&Lane::of_2>;
}

template <Operation kOperation>
Handler select_width(Form const& form, Step const& step) {
  if (form.type == Type::f64) return select_arity<kOperation, Double<kOperation>>();
  if (step.ftz)
    return step.saturate ? select_arity<kOperation, Single<kOperation, true, true>>()
                         : select_arity<kOperation, Single<kOperation, true, false>>();
  return step.saturate ? select_arity<kOperation, Single<kOperation, false, true>>()
                       : select_arity<kOperation, Single<kOperation, false, false>>();
}

// Returns the minimum or maximum. If one of a and b is NaN, returns the other. Minus zero is less than zero.
template <class T, bool kMax>
T extreme(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) == kMax ? b : a;
  return (a < b) == kMax ? b : a;
}
template <bool kMax, bool kFtz, bool kNan>
U32 extreme32(U32 a, U32 b) {
  float const x = taken<kFtz>(a), y = taken<kFtz>(b);
  if (kNan && (x != x || y != y)) return kNan32;
  return bits_of(extreme<float, kMax>(x, y));
}
template <bool kMax>
U64 extreme64(U64 a, U64 b) {
  return bits_of(extreme<double, kMax>(as_double(a), as_double(b)));
}

template <bool kMax>
Handler select_extreme(Form const& form, Step const& step) {
  if (form.type == Type::f64) return map<&extreme64<kMax>>;
  bool const nan = form.has("NaN");
  if (step.ftz) return nan ? map<&extreme32<kMax, true, true>> : map<&extreme32<kMax, true, false>>;
  return nan ? map<&extreme32<kMax, false, true>> : map<&extreme32<kMax, false, false>>;
}

// The sign of a NaN is unspecified. With .ftz NaN becomes the canonical NaN, otherwise it keeps its bits.
template <bool kFtz>
U32 neg32(U32 a) {
  return kFtz ? bits_of(-taken<kFtz>(a)) : a ^ 0x80000000;
}
template <bool kFtz>
U32 abs32(U32 a) {
  return kFtz ? bits_of(std::fabs(taken<kFtz>(a))) : a & 0x7fffffff;
}
U64 neg64(U64 a) {
  return a ^ U64 { 1 } << 63;
}
U64 abs64(U64 a) { return a & ~(U64{1} << 63); }
U32 copysign32(U32 a, U32 b) { return (a & 0x80000000) | (b & 0x7fffffff); }
U64 copysign64(U64 a, U64 b) { return (a & U64{1} << 63) | (b & ~(U64{1} << 63)); }

template <class T>
bool has_property(T value, std::uint8_t property) {
  switch (property) {
    case 0: return std::isfinite(value);
    case 1: return std::isinf(value);
    case 2: return !std::isnan(value);
    case 3: return std::isnan(value);
    case 4: return std::isnormal(value) || value == 0;  // as the manual says
    default: return std::fpclassify(value) == FP_SUBNORMAL;
  }
}
template <class T, class Bits>
bool test_property(Warp& warp, Step const& step, Mask lanes) {
  Bits const* const a = warp.at<Bits>(step.source[0]);
  Mask result = 0;
  each_lane(lanes, [&](unsigned i) { result |= Mask{has_property(std::bit_cast<T>(a[i]), step.choice)} << i; });
  warp.set_predicate(step.destination[0], result, lanes);
  return true;
}

Handler select_property(Form const& form, Step& step) {
  static constexpr std::string_view kProperties[] = {"finite",     "infinite", "number",
                                                     "notanumber", "normal",   "subnormal"};
  while (form.words[1] != kProperties[step.choice]) ++step.choice;
  return form.type == Type::f32 ? test_property<float, U32> : test_property<double, U64>;
}

}  // namespace

Handler select_float(Form const& form, Step& step) {
  if (form.type != Type::f32 && form.type != Type::f64) return nullptr;
  std::string_view const op = form.opcode();
  if (form.has("approx") || form.has("full")) return nullptr;
  if (op == "add") return select_width<Operation::add>(form, step);
  if (op == "sub") return select_width<Operation::sub>(form, step);
  if (op == "mul") return select_width<Operation::mul>(form, step);
  if (op == "fma" || op == "mad") return select_width<Operation::fma>(form, step);
  if (op == "div") return select_width<Operation::div>(form, step);
  if (op == "rcp") return select_width<Operation::rcp>(form, step);
  if (op == "sqrt") return select_width<Operation::sqrt>(form, step);
  if (op == "min") return select_extreme<false>(form, step);
  if (op == "max") return select_extreme<true>(form, step);
  bool const single = form.type == Type::f32;
  if (op == "neg") return !single ? map<&neg64> : step.ftz ? map<&neg32<true>> : map<&neg32<false>>;
  if (op == "abs") return !single ? map<&abs64> : step.ftz ? map<&abs32<true>> : map<&abs32<false>>;
  if (op == "copysign") return single ? Handler{map<&copysign32>} : Handler{map<&copysign64>};
  if (op == "testp") return select_property(form, step);
  return nullptr;
}

}  // namespace cuda_cpu
