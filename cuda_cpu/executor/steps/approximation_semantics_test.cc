// Approximations, compared with the error bounds and the special values of the manual (PTX ISA 9.1; each row names its
// section). The reference is computed in long double, which the executor does not use.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "cuda_cpu/executor/reference/apply_form.h"
#include "tests/support/campaign.h"

// Tables with several rows in a line follow.
// clang-format off

namespace cuda_cpu {
namespace {

using Exact = long double;
using tracing_test::campaign;
using Values = std::vector<std::uint64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kGreatest = std::numeric_limits<float>::max();
constexpr float kLeastNormal = std::numeric_limits<float>::min();
constexpr double kPi = 3.14159265358979323846;

std::uint64_t f(float value) { return std::bit_cast<std::uint32_t>(value); }
float float_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

enum class Kind { ulp, relative, absolute };

// Returns the distance between floats near a value. For values below the normal numbers it is the distance between
// denormals.
Exact ulp_of(Exact value) { return std::ldexp(Exact{1}, std::max(value == 0 ? -126 : std::ilogb(value), -126) - 23); }

Exact allowed(Kind kind, Exact bound, Exact exact) {
  if (kind == Kind::ulp) return bound * ulp_of(exact);
  return kind == Kind::relative ? bound * std::fabs(exact) : bound;
}

// Returns true if a result is within its error bound. With .ftz a result below the normal numbers must be a zero of its
// sign; near that limit both the zero and the number are right.
bool is_within(float result, Exact exact, Exact error, bool ftz) {
  Exact const value = std::isinf(result) ? std::copysign(Exact{0x1p128L}, Exact{result}) : Exact{result};
  Exact const target = std::fabs(exact) > 0x1p128L ? std::copysign(Exact{0x1p128L}, exact) : exact;
  if (!ftz || std::fabs(exact) > kLeastNormal + error) return std::fabs(value - target) <= error;
  bool const zero = result == 0 && std::signbit(result) == std::signbit(exact);
  return std::fabs(exact) < kLeastNormal - error ? zero : zero || std::fabs(value - target) <= error;
}

// Returns floats in [low, high]: one half evenly by value, the other evenly by bits, which covers all exponents.
std::vector<Values> sweep(float low, float high, int count) {
  auto const order = [](float value) {  // maps neighbouring floats to neighbouring integers
    auto const bits = static_cast<std::int64_t>(f(value) & 0x7fffffff);
    return std::signbit(value) ? -bits : bits;
  };
  std::vector<Values> cases;
  std::int64_t const first = order(low), last = order(high);
  for (int i = 0; i <= count / 2; ++i) {
    cases.push_back({f(static_cast<float>(low + (static_cast<double>(high) - low) * i / (count / 2)))});
    std::int64_t const bits = first + (last - first) / (count / 2) * i;
    cases.push_back({static_cast<std::uint64_t>(bits < 0 ? -bits | 0x80000000 : bits)});
  }
  return cases;
}

struct Bound {
  char const* form;
  Exact (*exact)(Exact);
  Kind kind;
  double bound;
  float low, high;
  char const* section;
};

Exact rcp(Exact x) { return 1 / x; }
Exact sqrt(Exact x) { return std::sqrt(x); }
Exact rsqrt(Exact x) { return 1 / std::sqrt(x); }
Exact sin(Exact x) { return std::sin(x); }
Exact cos(Exact x) { return std::cos(x); }
Exact lg2(Exact x) { return std::log2(x); }
Exact ex2(Exact x) { return std::exp2(x); }
Exact tanh(Exact x) { return std::tanh(x); }

constexpr float kLeast = std::numeric_limits<float>::denorm_min();
constexpr float k2Pi = static_cast<float>(2 * kPi), k100Pi = static_cast<float>(100 * kPi);
double const k2To20_5 = std::exp2(-20.5), k2To14_7 = std::exp2(-14.7), k2To22_9 = std::exp2(-22.9);
constexpr float kBelowTwo = 0x1.fffffep0f, kAboveHalf = 0x1.000002p-1f;

Bound const kBounds[] = {
    {"rcp.approx.f32", rcp, Kind::ulp, 1, kLeast, kGreatest, "9.7.3.13, the full range of inputs"},
    {"rcp.approx.f32", rcp, Kind::ulp, 1, -kGreatest, -kLeast, "9.7.3.13, the full range of inputs"},
    {"rcp.approx.ftz.f32", rcp, Kind::ulp, 1, kLeastNormal, kGreatest, "9.7.3.13, the full range of inputs"},
    {"sqrt.approx.f32", sqrt, Kind::relative, 0x1p-23, kLeast, kGreatest, "9.7.3.15, the positive finite range"},
    {"sqrt.approx.ftz.f32", sqrt, Kind::relative, 0x1p-23, kLeastNormal, kGreatest, "9.7.3.15, the positive finite "
                                                                                    "range"},
    {"rsqrt.approx.f32", rsqrt, Kind::relative, k2To22_9, kLeast, kGreatest, "9.7.3.16, the positive finite range"},
    {"rsqrt.approx.ftz.f32", rsqrt, Kind::relative, k2To22_9, kLeastNormal, kGreatest, "9.7.3.16, the positive "
                                                                                       "finite range"},
    {"sin.approx.f32", sin, Kind::absolute, k2To20_5, -k2Pi, k2Pi, "9.7.3.18, [-2pi, 2pi]"},
    {"sin.approx.ftz.f32", sin, Kind::absolute, k2To20_5, -k2Pi, k2Pi, "9.7.3.18, [-2pi, 2pi]"},
    {"sin.approx.f32", sin, Kind::absolute, k2To14_7, -k100Pi, k100Pi, "9.7.3.18, [-100pi, 100pi]"},
    {"cos.approx.f32", cos, Kind::absolute, k2To20_5, -k2Pi, k2Pi, "9.7.3.19, [-2pi, 2pi]"},
    {"cos.approx.ftz.f32", cos, Kind::absolute, k2To20_5, -k2Pi, k2Pi, "9.7.3.19, [-2pi, 2pi]"},
    {"cos.approx.f32", cos, Kind::absolute, k2To14_7, -k100Pi, k100Pi, "9.7.3.19, [-100pi, 100pi]"},
    {"lg2.approx.f32", lg2, Kind::absolute, 0x1p-22, kAboveHalf, kBelowTwo, "9.7.3.20, (0.5, 2)"},
    {"lg2.approx.ftz.f32", lg2, Kind::absolute, 0x1p-22, kAboveHalf, kBelowTwo, "9.7.3.20, (0.5, 2)"},
    {"lg2.approx.f32", lg2, Kind::relative, 0x1p-22, kLeast, 0.5f, "9.7.3.20, below"},
    {"lg2.approx.f32", lg2, Kind::relative, 0x1p-22, 2, kGreatest, "9.7.3.20, above"},
    {"lg2.approx.ftz.f32", lg2, Kind::relative, 0x1p-22, kLeastNormal, 0.5f, "9.7.3.20, below"},
    {"lg2.approx.ftz.f32", lg2, Kind::relative, 0x1p-22, 2, kGreatest, "9.7.3.20, above"},
    {"ex2.approx.f32", ex2, Kind::ulp, 2, -160, 130, "9.7.3.21, the full range of inputs"},
    {"ex2.approx.f32", ex2, Kind::ulp, 2, -kGreatest, kGreatest, "9.7.3.21, the full range of inputs"},
    {"ex2.approx.ftz.f32", ex2, Kind::ulp, 2, -160, 130, "9.7.3.21, the full range of inputs"},
    {"tanh.approx.f32", tanh, Kind::relative, 0x1p-11, -kGreatest, kGreatest, "9.7.3.22, the entire range"},
    {"tanh.approx.f32", tanh, Kind::relative, 0x1p-11, -12, 12, "9.7.3.22, the entire range"},
};

TEST(ApproximationSemantics, StaysWithinTheBoundsOfTheManual) {
  for (auto const& [form, exact, kind, bound, low, high, section] : kBounds) {
    auto const cases = sweep(low, high, campaign(120'000, 6'000));
    auto const results = apply_form(form, cases);
    bool const ftz = std::string_view(form).find(".ftz") != std::string_view::npos;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Exact const x = float_of(cases[i][0]);
      if (ftz && std::fabs(x) < kLeastNormal) continue;  // treated as zero: see below
      Exact const expected = exact(x);
      ASSERT_TRUE(is_within(float_of(results[i]), expected, allowed(kind, bound, expected), ftz))
          << form << " (" << section << ") of " << x << " is " << float_of(results[i]) << ", not " << expected;
    }
  }
}

// Returns pairs with random exponents.
std::vector<Values> fractions(float least_divisor, float greatest_divisor) {
  std::mt19937 random(17);
  std::vector<Values> cases;
  while (cases.size() < campaign<std::size_t>(60'000, 4'000)) {
    auto const a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    float const divisor = std::fabs(float_of(b));
    if (std::isfinite(float_of(a)) && divisor >= least_divisor && divisor <= greatest_divisor) cases.push_back({a, b});
  }
  return cases;
}

TEST(ApproximationSemantics, DivisionErrsByAtMostTwoUlp) {
  struct Row {
    char const* form;
    float least, greatest;
  };
  for (auto const& [form, least, greatest] : std::initializer_list<Row>{{"div.approx.f32", 0x1p-126f, 0x1p126f},
                                                                        {"div.approx.ftz.f32", 0x1p-126f, 0x1p126f},
                                                                        {"div.full.f32", kLeast, kGreatest},
                                                                        {"div.full.ftz.f32", 0x1p-126f, kGreatest}}) {
    auto const cases = fractions(least, greatest);
    auto const results = apply_form(form, cases);
    bool const ftz = std::string_view(form).find(".ftz") != std::string_view::npos;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      float const a = float_of(cases[i][0]), b = float_of(cases[i][1]);
      if (ftz && std::fabs(a) < kLeastNormal) continue;
      Exact const expected = Exact{a} / b;
      ASSERT_TRUE(is_within(float_of(results[i]), expected, 2 * ulp_of(expected), ftz))
          << form << ' ' << a << " / " << b << " is " << float_of(results[i]);
    }
  }
}

// Section 9.7.3.8: the reciprocal of such a large divisor is flushed to zero.
TEST(ApproximationSemantics, DivisionByLargeNumbersGivesZero) {
  for (std::string const form : {"div.approx.f32", "div.approx.ftz.f32"}) {
    auto const cases = fractions(0x1.000002p126f, kGreatest);
    auto const results = apply_form(form, cases);
    for (std::size_t i = 0; i < cases.size(); ++i)
      ASSERT_EQ(results[i], (cases[i][0] ^ cases[i][1]) & 0x80000000) << form << i;
    EXPECT_EQ(apply_form(form, {{f(kInf), f(0x1p127f)}})[0], 0x7fffffffu);
  }
}

struct Specials {
  char const* form;
  std::uint64_t negative_infinity, minus_one, negative_zero, positive_zero, positive_infinity, nan;
};

// The tables of 9.7.3.13 to 9.7.3.22 and 9.7.4.9 to 9.7.4.10. kAny: the table does not list the result for minus one.
TEST(ApproximationSemantics, SpecialValuesFollowTheManual) {
  constexpr std::uint64_t kNan = 0x7fffffff, kAny = 0xabcdef;
  std::uint64_t const inf = f(kInf), minus_inf = f(-kInf), zero = 0, minus_zero = f(-0.0f), one = f(1);
  for (auto const& row : std::initializer_list<Specials>{
           {"rcp.approx.f32", minus_zero, kAny, minus_inf, inf, zero, kNan},
           {"rcp.approx.ftz.f32", minus_zero, kAny, minus_inf, inf, zero, kNan},
           {"sqrt.approx.f32", kNan, kNan, minus_zero, zero, inf, kNan},
           {"sqrt.approx.ftz.f32", kNan, kNan, minus_zero, zero, inf, kNan},
           {"rsqrt.approx.f32", kNan, kNan, minus_inf, inf, zero, kNan},
           {"rsqrt.approx.ftz.f32", kNan, kNan, minus_inf, inf, zero, kNan},
           {"sin.approx.f32", kNan, kAny, minus_zero, zero, kNan, kNan},
           {"sin.approx.ftz.f32", kNan, kAny, minus_zero, zero, kNan, kNan},
           {"cos.approx.f32", kNan, kAny, one, one, kNan, kNan},
           {"cos.approx.ftz.f32", kNan, kAny, one, one, kNan, kNan},
           {"lg2.approx.f32", kNan, kNan, minus_inf, minus_inf, inf, kNan},
           {"lg2.approx.ftz.f32", kNan, kNan, minus_inf, minus_inf, inf, kNan},
           {"ex2.approx.f32", zero, kAny, one, one, inf, kNan},
           {"ex2.approx.ftz.f32", zero, kAny, one, one, inf, kNan},
           {"tanh.approx.f32", f(-1), kAny, minus_zero, zero, one, kNan}}) {
    std::uint64_t const a_nan = 0xffc00123, subnormal = 0x00012345;
    std::vector<Values> cases = {{minus_inf}, {f(-1)}, {minus_zero}, {zero}, {inf}, {a_nan}};
    cases.push_back({subnormal | minus_zero}), cases.push_back({subnormal});
    auto const results = apply_form(row.form, cases);
    EXPECT_EQ(results[0], row.negative_infinity) << row.form;
    if (row.minus_one != kAny) {
      EXPECT_EQ(results[1], row.minus_one) << row.form;
    }
    EXPECT_EQ(results[2], row.negative_zero) << row.form;
    EXPECT_EQ(results[3], row.positive_zero) << row.form;
    EXPECT_EQ(results[4], row.positive_infinity) << row.form;
    EXPECT_EQ(results[5], row.nan) << row.form;
    if (std::string_view(row.form).find(".ftz") == std::string_view::npos) continue;
    EXPECT_EQ(results[6], row.negative_zero) << row.form << ": a subnormal is zero";
    EXPECT_EQ(results[7], row.positive_zero) << row.form << ": a subnormal is zero";
  }
}

// Sections 9.7.3.14, 9.7.3.16 and 9.7.3.17. The manual gives no bound for doubles; the upper half has 20 bits of the
// fraction.
TEST(ApproximationSemantics, UsesTheUpperHalfOfDoubles) {
  auto const bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  double const inf = std::numeric_limits<double>::infinity();
  std::uint64_t const plus_inf = bits(inf), minus_inf = bits(-inf), minus = bits(-0.0), subnormal = 0x0000000100000000;
  std::uint64_t const nan = bits(std::nan("")) | 0x123, canonical = 0x7fffffff00000000;
  std::vector<Values> cases = {{minus_inf}, {subnormal | minus}, {minus}, {0},
                               {subnormal}, {plus_inf},          {nan},   {bits(-1)}};
  Values const reciprocals = {minus, minus_inf, minus_inf, plus_inf, plus_inf, 0, canonical, bits(-1)};
  Values const roots = {canonical, minus_inf, minus_inf, plus_inf, plus_inf, 0, canonical, canonical};
  EXPECT_EQ(apply_form("rcp.approx.ftz.f64", cases), reciprocals);
  EXPECT_EQ(apply_form("rsqrt.approx.ftz.f64", cases), roots);
  std::mt19937_64 random(3);
  cases.clear();
  while (cases.size() < campaign<std::size_t>(20'000, 2'000)) {
    std::uint64_t const one = random() & ~minus;
    if (std::isnormal(std::bit_cast<double>(one)) && std::bit_cast<double>(one) < 0x1p1000) cases.push_back({one});
  }
  for (std::string const form : {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"}) {
    bool const upper = form != "rsqrt.approx.f64", root = form != "rcp.approx.ftz.f64";
    auto const results = apply_form(form, cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Exact const x = std::bit_cast<double>(upper ? cases[i][0] & ~std::uint64_t{0xffffffff} : cases[i][0]);
      Exact const expected = root ? rsqrt(x) : rcp(x), error = std::fabs(std::bit_cast<double>(results[i]) - expected);
      ASSERT_LE(error, expected * (upper ? 0x1p-20L : 0x1p-52L)) << form << ' ' << std::hex << cases[i][0];
      if (upper) {
        ASSERT_EQ(results[i] & 0xffffffff, 0u) << form;
      }
    }
  }
}

Exact value_of_half(std::uint64_t half) {
  std::uint64_t const significand = (half & 1023) + ((half & 0x7c00) != 0 ? 1024 : 0);
  Exact const magnitude =
      std::ldexp(static_cast<Exact>(significand), std::max(1, static_cast<int>(half >> 10 & 31)) - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

// Sections 9.7.4.9 and 9.7.4.10. The sample includes the first and the last half and is symmetric, so that a pair can
// combine the i-th half from the front with the i-th half from the back. Below the normal halves the bound is at least
// half a denormal, for halves are not closer.
TEST(ApproximationSemantics, KeepsHalvesWithinTheBoundsOfTheManual) {
  std::vector<Values> cases, pairs;
  for (std::uint64_t half = 0; half < 0x10000; half += campaign(1u, 17u)) {
    cases.push_back({half});
    pairs.push_back({half << 16 | (0xffff - half)});
  }
  auto const check = [&](std::string const& op, Exact (*exact)(Exact), Values const& specials, auto const& error) {
    EXPECT_EQ(apply_form(op + ".f16", {{0xfc00}, {0x8000}, {0}, {0x7c00}, {0x7e01}}), specials) << op;
    auto const results = apply_form(op + ".f16", cases), both = apply_form(op + ".f16x2", pairs);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::uint64_t const half = cases[i][0], result = results[i];
      ASSERT_EQ(both[i], result << 16 | results[cases.size() - 1 - i]) << op << ' ' << half;
      if ((half & 0x7c00) == 0x7c00) continue;
      Exact const expected = exact(value_of_half(half));
      bool const infinite = (result & 0x7fff) == 0x7c00;
      bool const near = infinite ? expected >= 65520 : std::fabs(value_of_half(result) - expected) <= error(expected);
      ASSERT_TRUE(near) << op << ' ' << std::hex << half;
    }
  };
  check("tanh.approx", tanh, {0xbc00, 0x8000, 0, 0x3c00, 0x7fff}, [](Exact) { return std::exp2(Exact{-10.987L}); });
  auto const of_ex2 = [](Exact value) { return std::max(value * std::exp2(Exact{-9.9L}), Exact{0x1p-25L}); };
  check("ex2.approx", ex2, {0, 0x3c00, 0x3c00, 0x7c00, 0x7fff}, of_ex2);
}

}  // namespace
}  // namespace cuda_cpu
