// Implements halves, bfloats and pairs of them, computed in double precision and rounded once.
#include "cuda_cpu/executor/steps/map.h"
#include "cuda_cpu/executor/steps/numbers.h"

namespace cuda_cpu {
namespace {

enum class Operation { add, sub, mul, fma, min, max, neg, abs, exp2, tanh };

double extreme(double a, double b, bool max, bool nan) {
  if (a != a || b != b) {
    if (nan) return std::numeric_limits<double>::quiet_NaN();
    return a != a ? b : a;
  }
  if (a == b) return std::signbit(a) == max ? b : a;
  return (a < b) == max ? b : a;
}

struct Half {
  static double value(U16 bits) { return static_cast<double>(half_to_float(bits)); }
  static U16 rounded(double value) { return double_to_half(value, Rounding::nearest); }
  static U16 flushed(U16 bits) { return flushed_half(bits); }
};
struct Bfloat {
  static double value(U16 bits) { return static_cast<double>(bfloat_to_float(bits)); }
  static U16 rounded(double value) { return double_to_bfloat(value, Rounding::nearest); }
  static U16 flushed(U16 bits) { return flushed_bfloat(bits); }
};

// Products are exact in double precision. A sum loses its last bits only if one addend is far smaller than the last bit
// of the other, so the lost bits do not decide the rounding of a sum. They may decide the rounding of a * b + c, which
// without them may be in the middle between two bfloats; hence fused_to_odd().
template <Operation kOperation>
double compute(double a, double b, double c, bool nan) {
  switch (kOperation) {
    case Operation::add: return a + b;
    case Operation::sub: return a - b;
    case Operation::mul: return a * b;
    case Operation::fma: return fused_to_odd(a, b, c);
    case Operation::min: return extreme(a, b, false, nan);
    case Operation::max: return extreme(a, b, true, nan);
    case Operation::neg: return -a;
    case Operation::abs: return std::fabs(a);
    case Operation::exp2: return std::exp2(a);
    case Operation::tanh: return std::tanh(a);
  }
  return 0;
}

constexpr std::uint8_t kNanWins = 1;
constexpr std::uint8_t kRelu = 2;

template <Operation kOperation, class Format>
U16 one(Step const& step, U16 a, U16 b, U16 c) {
  auto const take = [&step](U16 bits) { return Format::value(step.ftz ? Format::flushed(bits) : bits); };
  if (kOperation == Operation::neg || kOperation == Operation::abs) {
    if (step.ftz) a = Format::flushed(a);
    return static_cast<U16>(kOperation == Operation::neg ? a ^ 0x8000 : a & 0x7fff);
  }
  double value = compute<kOperation>(take(a), take(b), take(c), (step.choice & kNanWins) != 0);
  if (step.saturate) value = saturated(value);
  if ((step.choice & kRelu) != 0 && value < 0) value = 0;
  U16 const result = Format::rounded(value);
  return step.ftz ? Format::flushed(result) : result;
}

template <Operation kOperation, class Format, unsigned kSources, bool kPair>
bool halves(Warp& warp, Step const& step, Mask lanes) {
  using Bits = std::conditional_t<kPair, U32, U16>;
  Bits* const to = warp.at<Bits>(step.destination[0]);
  Bits const* from[3] = {};
  for (unsigned i = 0; i < kSources; ++i) from[i] = warp.at<Bits>(step.source[i]);
  auto const part = [&](unsigned lane, unsigned shift) {
    auto const source = [&](unsigned i) { return i < kSources ? static_cast<U16>(from[i][lane] >> shift) : U16{0}; };
    return one<kOperation, Format>(step, source(0), source(1), source(2));
  };
  each_lane(lanes, [&](unsigned lane) {
    if constexpr (kPair) {
      U32 const low = part(lane, 0);
      to[lane] = U32{part(lane, 16)} << 16 | low;
    } else {
      to[lane] = part(lane, 0);
    }
  });
  return true;
}

template <Operation kOperation, unsigned kSources>
Handler select(Form const& form) {
  switch (form.type) {
    case Type::f16: return halves<kOperation, Half, kSources, false>;
    case Type::f16x2: return halves<kOperation, Half, kSources, true>;
    case Type::bf16: return halves<kOperation, Bfloat, kSources, false>;
    default: return halves<kOperation, Bfloat, kSources, true>;
  }
}

}  // namespace

Handler select_half(Form const& form, Step& step) {
  bool const half = form.type == Type::f16 || form.type == Type::f16x2;
  if (!half && form.type != Type::bf16 && form.type != Type::bf16x2) return nullptr;
  std::string_view const op = form.opcode();
  step.choice = static_cast<std::uint8_t>((form.has("NaN") ? kNanWins : 0) | (form.has("relu") ? kRelu : 0));
  if (op == "add") return select<Operation::add, 2>(form);
  if (op == "sub") return select<Operation::sub, 2>(form);
  if (op == "mul") return select<Operation::mul, 2>(form);
  if (op == "fma") return select<Operation::fma, 3>(form);
  if (op == "min") return select<Operation::min, 2>(form);
  if (op == "max") return select<Operation::max, 2>(form);
  if (op == "neg") return select<Operation::neg, 1>(form);
  if (op == "abs") return select<Operation::abs, 1>(form);
  if (op == "ex2") return select<Operation::exp2, 1>(form);
  if (op == "tanh") return select<Operation::tanh, 1>(form);
  return nullptr;
}

}  // namespace cuda_cpu
