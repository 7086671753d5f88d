// Implements approximations: within the error bounds of the PTX manual, with its results for special values.
#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

float rcp(float a) { return 1.0f / a; }
float sqrt(float a) { return std::sqrt(a); }
float rsqrt(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
float sine(float a) { return static_cast<float>(std::sin(static_cast<double>(a))); }
float cosine(float a) { return static_cast<float>(std::cos(static_cast<double>(a))); }
float log2(float a) { return std::log2(a); }
float exp2(float a) { return std::exp2(a); }
float tanh(float a) { return std::tanh(a); }

template <float (*kFunction)(float), bool kFtz>
U32 single(U32 a) {
  float const x = kFtz ? flushed(as_float(a)) : as_float(a);
  float const result = kFunction(x);
  return bits_of(kFtz ? flushed(result) : result);
}

// The reciprocal of a divisor above 2^126 is a denormal, which div.approx replaces by zero.
template <bool kFtz, bool kFull>
U32 divide(U32 a, U32 b) {
  float const x = kFtz ? flushed(as_float(a)) : as_float(a);
  float const y = kFtz ? flushed(as_float(b)) : as_float(b);
  float result = x / y;
  if (!kFull && std::fabs(y) > 0x1p126f && std::isfinite(y)) {
    result = std::isinf(x) ? std::numeric_limits<float>::quiet_NaN() : std::isnan(x) ? x : std::copysign(0.0f, result);
  }
  return bits_of(kFtz ? flushed(result) : result);
}

U64 rsqrt64(U64 a) { return bits_of(1.0 / std::sqrt(as_double(a))); }

// .approx.ftz.f64 uses only the upper half of its operand and of its result, without denormals and with a single NaN.
constexpr U64 kNanOfUpper = 0x7fffffff00000000;
U64 upper(double value) {
  U64 bits = bits_of(value);
  if ((bits >> 52 & 2047) == 0) bits &= U64{1} << 63;
  return bits & ~U64{0xffffffff};
}
U64 result_upper(double value) { return value != value ? kNanOfUpper : upper(value); }
U64 rcp_upper(U64 a) { return result_upper(1.0 / as_double(upper(as_double(a)))); }
U64 rsqrt_upper(U64 a) { return result_upper(1.0 / std::sqrt(as_double(upper(as_double(a))))); }

template <float (*kFunction)(float)>
Handler select(Step const& step) {
  return step.ftz ? map<&single<kFunction, true>> : map<&single<kFunction, false>>;
}

}  // namespace

Handler select_approximation(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  bool const full = form.has("full");
  if ((!full && !form.has("approx")) || (form.type != Type::f32 && form.type != Type::f64)) return nullptr;
  if (form.type == Type::f64)
    return op == "rcp" ? map<&rcp_upper> : form.has("ftz") ? map<&rsqrt_upper> : map<&rsqrt64>;
  if (op == "div" && full) return step.ftz ? map<&divide<true, true>> : map<&divide<false, true>>;
  if (op == "div") return step.ftz ? map<&divide<true, false>> : map<&divide<false, false>>;
  if (op == "rcp") return select<&rcp>(step);
  if (op == "sqrt") return select<&sqrt>(step);
  if (op == "rsqrt") return select<&rsqrt>(step);
  if (op == "sin") return select<&sine>(step);
  if (op == "cos") return select<&cosine>(step);
  if (op == "lg2") return select<&log2>(step);
  if (op == "ex2") return select<&exp2>(step);
  if (op == "tanh") return select<&tanh>(step);
  return nullptr;
}

}  // namespace cuda_cpu
