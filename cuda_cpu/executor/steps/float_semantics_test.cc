// Floating-point instructions: rounding is checked against exact values in 113 bits, other results against values
// computed by hand.
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

__extension__ using Exact = __float128;
using Values = std::vector<std::uint64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::uint64_t kNan = 0x7fffffff;
std::uint64_t f(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t d(double value) { return std::bit_cast<std::uint64_t>(value); }

// Returns true if `result` is `exact` rounded by `mode`. Ties are to even.
template <class T, class Bits>
bool is_rounded(T result, Exact exact, std::string_view mode) {
  T const greatest = std::numeric_limits<T>::max();
  Exact const value = result;
  if (mode == "rz") mode = exact > 0 ? "rm" : "rp";
  if (mode == "rm")
    return std::isinf(result)
               ? result < 0 && exact < -Exact{greatest}
               : value <= exact &&
                     (result == greatest || Exact{std::nextafter(result, std::numeric_limits<T>::infinity())} > exact);
  if (mode == "rp")
    return std::isinf(result)
               ? result > 0 && exact > Exact{greatest}
               : value >= exact && (result == -greatest ||
                                    Exact{std::nextafter(result, -std::numeric_limits<T>::infinity())} < exact);
  if (std::isinf(result)) return exact > Exact{greatest} || exact < -Exact{greatest};
  auto const distance = [&](T other) { Exact const gap = Exact{other} - exact; return gap < 0 ? -gap : gap; };
  for (T const toward : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()}) {
    T const other = std::nextafter(result, toward);
    if (std::isinf(other)) continue;
    if (distance(other) < distance(result)) return false;
    if (distance(other) == distance(result) && (std::bit_cast<Bits>(result) & 1) != 0) return false;
  }
  return true;
}

template <class T, class Bits>
std::vector<Values> operands(std::size_t count) {
  std::minstd_rand random(11);
  constexpr int kSpread = 20;
  std::vector<Values> cases;
  std::vector<T> const edges = {0, T(-0.0), 1, -1, T(1.5), std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::denorm_min() * 3, std::numeric_limits<T>::max(), T(0.1),
                                1 + std::numeric_limits<T>::epsilon()};
  for (T const a : edges)
    for (T const b : edges)
      cases.push_back({static_cast<Bits>(std::bit_cast<Bits>(a)), std::bit_cast<Bits>(b), std::bit_cast<Bits>(T(-a))});
  while (cases.size() < count) {
    Values one;
    for (int i = 0; i < 3; ++i) {
      T const fraction = 1 + static_cast<T>(random() % 0x7fffffff) / static_cast<T>(0x7fffffff);
      one.push_back(std::bit_cast<Bits>(
          std::ldexp(random() % 2 == 0 ? fraction : -fraction, static_cast<int>(random() % (2 * kSpread)) - kSpread)));
    }
    cases.push_back(one);
  }
  return cases;
}

template <class T, class Bits, class Compute>
void check_rounding(std::string const& op, std::string const& type, std::size_t arity, Compute const& compute) {
  for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
    auto cases = operands<T, Bits>(700);
    for (auto& one : cases) one.resize(arity);
    auto const results = apply_form(op + "." + mode + "." + type, cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      auto const value = [&](std::size_t k) { return Exact{std::bit_cast<T>(static_cast<Bits>(cases[i][k]))}; };
      Exact const exact = compute(value(0), arity > 1 ? value(1) : 0, arity > 2 ? value(2) : 0);
      if (exact != exact || exact - exact != 0 || exact == 0) continue;  // special values have their own test
      T const result = std::bit_cast<T>(static_cast<Bits>(results[i]));
      ASSERT_TRUE((is_rounded<T, Bits>(result, exact, mode)))
          << op << ' ' << mode << ' ' << type << ": " << std::hex << cases[i][0] << " -> " << results[i];
    }
  }
}

TEST(FloatSemantics, RoundOnceInEachDirection) {
  // Returns zero, which is skipped, if 113 bits do not hold the sum.
  auto const sum = [](Exact a, Exact b) { return (a + b) - a == b && (a + b) - b == a ? a + b : 0; };
  auto const add = [sum](Exact a, Exact b, Exact) { return sum(a, b); };
  auto const sub = [sum](Exact a, Exact b, Exact) { return sum(a, -b); };
  auto const mul = [](Exact a, Exact b, Exact) { return a * b; };
  auto const fma = [sum](Exact a, Exact b, Exact c) { return sum(a * b, c); };
  auto const div = [](Exact a, Exact b, Exact) { return a / b; };
  auto const rcp = [](Exact a, Exact, Exact) { return 1 / a; };
  check_rounding<float, std::uint32_t>("add", "f32", 2, add);
  check_rounding<float, std::uint32_t>("sub", "f32", 2, sub);
  check_rounding<float, std::uint32_t>("mul", "f32", 2, mul);
  check_rounding<float, std::uint32_t>("fma", "f32", 3, fma);
  check_rounding<float, std::uint32_t>("div", "f32", 2, div);
  check_rounding<float, std::uint32_t>("rcp", "f32", 1, rcp);
  check_rounding<double, std::uint64_t>("add", "f64", 2, add);
  check_rounding<double, std::uint64_t>("sub", "f64", 2, sub);
  check_rounding<double, std::uint64_t>("mul", "f64", 2, mul);
  check_rounding<double, std::uint64_t>("div", "f64", 2, div);
  check_rounding<double, std::uint64_t>("rcp", "f64", 1, rcp);
}

TEST(FloatSemantics, RootsAreRoundedInEachDirection) {
  for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
    auto cases = operands<float, std::uint32_t>(600);
    for (auto& one : cases) one = {one[0] & 0x7fffffff};
    auto const results = apply_form("sqrt." + mode + ".f32", cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Exact const x = std::bit_cast<float>(static_cast<std::uint32_t>(cases[i][0]));
      float const root = std::bit_cast<float>(static_cast<std::uint32_t>(results[i]));
      if (mode == "rp")
        ASSERT_TRUE(Exact{root} * root >= x &&
                    (root == 0 || Exact{std::nextafter(root, 0.0f)} * std::nextafter(root, 0.0f) < x));
      else if (mode != "rn")
        ASSERT_TRUE(Exact{root} * root <= x && Exact{std::nextafter(root, kInf)} * std::nextafter(root, kInf) > x);
      else ASSERT_EQ(root, std::sqrt(std::bit_cast<float>(static_cast<std::uint32_t>(cases[i][0]))));
    }
  }
}

TEST(FloatSemantics, FusedMultiplyAddsAndRootsOfDoublesRoundOnce) {
  auto cases = operands<double, std::uint64_t>(5000);
  auto const sums = apply_form("fma.rn.f64", cases);
  auto const value = [&](std::size_t i, std::size_t k) { return std::bit_cast<double>(cases[i][k]); };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    double const expected = std::fma(value(i, 0), value(i, 1), value(i, 2));
    if (expected == expected) {
      ASSERT_EQ(sums[i], d(expected)) << i;
    }
  }
  for (auto& one : cases) one = {one[0] & ~(std::uint64_t{1} << 63)};
  auto const roots = apply_form("sqrt.rn.f64", cases);
  for (std::size_t i = 0; i < cases.size(); ++i) ASSERT_EQ(roots[i], d(std::sqrt(value(i, 0)))) << i;
}

// Returns the value of a half, in 113 bits.
Exact value_of_half(std::uint64_t half) {
  Exact const magnitude = std::ldexp(static_cast<double>((half & 1023) + ((half & 0x7c00) != 0 ? 1024 : 0)),
                                     std::max(1, static_cast<int>(half >> 10 & 31)) - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

// Returns the half nearest to a value, ties to even. Searches all halves by bisection, not by the tested conversion.
std::uint64_t nearest_half(Exact exact) {
  std::uint64_t const sign = exact < 0 ? 0x8000 : 0;
  Exact const magnitude = exact < 0 ? -exact : exact;
  std::uint64_t below = 0;  // the largest half that is not above
  for (std::uint64_t bit = 0x4000; bit != 0; bit >>= 1)
    if ((below | bit) < 0x7c00 && value_of_half(below | bit) <= magnitude) below |= bit;
  Exact const above = below == 0x7bff ? Exact{65536} : value_of_half(below + 1);
  Exact const up = above - magnitude, down = magnitude - value_of_half(below);
  return sign | (up < down || (up == down && (below & 1) != 0) ? below + 1 : below);
}

// An implementation that rounds to float first fails for about 1 in 30,000 random cases. It fails for all hard cases:
// their product is closer to the middle between two halves than a float can express.
TEST(HalfSemantics, FusedMultiplyAddRoundsOnce) {
  std::minstd_rand random(5);
  std::vector<Values> cases;
  for (int i = 0; i < tracing_test::campaign(200'000, 10'000); ++i) {
    Values one;
    for (int k = 0; k < 3; ++k) one.push_back((random() & 0x83ff) | (9 + random() % 14) << 10);
    cases.push_back(one);
  }
  for (std::uint64_t a = 0x3c01; a < 0x3c40; ++a)
    for (std::uint64_t const tiny : {0x0001u, 0x8001u, 0x0003u})
      cases.push_back({a, 0x3e00, tiny}), cases.push_back({a, 0x3c01, tiny}), cases.push_back({a, 0x3a00, tiny});
  auto const results = apply_form("fma.rn.f16", cases);
  int wrong_through_float = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Exact const exact = value_of_half(cases[i][0]) * value_of_half(cases[i][1]) + value_of_half(cases[i][2]);
    if (exact == 0) continue;
    std::uint64_t const expected = nearest_half(exact);
    ASSERT_EQ(results[i], expected) << std::hex << cases[i][0] << ' ' << cases[i][1] << ' ' << cases[i][2];
    wrong_through_float += nearest_half(static_cast<float>(exact)) != expected;
  }
  EXPECT_GT(wrong_through_float, 5);  // the cases would find such an implementation
}

struct Row {
  char const* form;
  Values operands;
  std::uint64_t expected;
};

TEST(FloatSemantics, SpecialValuesFollowTheManual) {
  std::uint64_t const denormal = 1, nan = 0x7fc00001, minus = 0x80000000;
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"add.f32", {f(1), nan}, kNan}, {"add.f32", {f(kInf), f(-kInf)}, kNan},
           {"add.ftz.f32", {denormal, minus | 1}, 0}, {"add.ftz.f32", {minus | 1, minus}, minus},
           {"add.sat.f32", {f(1), f(1)}, f(1)}, {"add.sat.f32", {nan, f(1)}, 0}, {"add.sat.f32", {f(-3), f(1)}, 0},
           {"add.f32", {denormal, denormal}, 2},
           {"sub.f32", {f(3), f(1)}, f(2)}, {"sub.ftz.f32", {f(3), denormal}, f(3)}, {"mul.f32", {f(0), f(kInf)}, kNan},
           {"mul.ftz.f32", {f(0x1p-100f), f(0x1p-40f)}, 0}, {"mul.ftz.f32", {f(-0x1p-100f), f(0x1p-40f)}, minus},
           {"mul.f32", {f(3), f(4)}, f(12)}, {"mul.sat.f32", {f(3), f(4)}, f(1)},
           {"fma.rn.f32", {f(2), f(3), f(4)}, f(10)}, {"fma.rn.ftz.f32", {denormal, f(3), f(4)}, f(4)},
           {"fma.rm.f32", {f(0.5f), f(255), f(12582913)}, f(12583040)}, {"fma.rn.f64", {d(2), d(3), d(4)}, d(10)},
           {"fma.rn.sat.f32", {f(2), f(3), f(4)}, f(1)},
           {"add.f64", {d(1), d(2)}, d(3)}, {"div.rn.f64", {d(1), d(4)}, d(0.25)}, {"mul.f64", {d(3), d(4)}, d(12)},
           {"sub.f64", {d(3), d(4)}, d(-1)}, {"div.rn.f32", {f(1), f(0)}, f(kInf)}, {"div.rn.f32", {f(0), f(0)}, kNan},
           {"min.f32", {nan, f(1)}, f(1)}, {"max.f32", {f(1), nan}, f(1)}, {"max.f32", {nan, nan}, kNan},
           {"min.f32", {0, minus}, minus}, {"max.f32", {minus, 0}, 0}, {"max.NaN.f32", {f(1), nan}, kNan},
           {"max.ftz.f32", {denormal, minus | 5}, 0}, {"min.f64", {d(1), d(-1)}, d(-1)}, {"max.f64", {d(1), d(-1)}, d(1)},
           {"max.f32", {f(2), f(5)}, f(5)},
           {"neg.f32", {f(1)}, f(-1)}, {"neg.ftz.f32", {denormal}, minus}, {"abs.f32", {f(-1)}, f(1)},
           {"abs.ftz.f32", {minus | 1}, 0}, {"neg.f64", {d(1)}, d(-1)}, {"abs.f64", {d(-1)}, d(1)},
           {"copysign.f32", {f(-1), f(5)}, f(-5)}, {"copysign.f64", {d(1), d(-5)}, d(5)},
           {"setp.lt.f32", {f(1), f(2)}, 1}, {"setp.lt.f32", {nan, f(2)}, 0}, {"setp.ltu.f32", {nan, f(2)}, 1},
           {"setp.ne.f32", {nan, nan}, 0}, {"setp.neu.f32", {nan, nan}, 1}, {"setp.eq.f32", {0, minus}, 1},
           {"setp.num.f32", {f(1), nan}, 0}, {"setp.nan.f32", {f(1), nan}, 1}, {"setp.eq.ftz.f32", {1, minus | 1}, 1},
           {"setp.ge.f64", {d(1), d(1)}, 1}, {"setp.geu.f64", {d(0), d(1)}, 0},
           {"testp.finite.f32", {f(kInf)}, 0}, {"testp.infinite.f32", {f(-kInf)}, 1}, {"testp.subnormal.f32", {1}, 1},
           {"testp.normal.f64", {d(1)}, 1}, {"testp.normal.f64", {d(-0.0)}, 1}, {"testp.normal.f32", {0}, 1},
           {"testp.normal.f32", {1}, 0}, {"testp.notanumber.f32", {nan}, 1}, {"testp.number.f32", {nan}, 0},
           {"rcp.approx.ftz.f64", {d(4)}, d(0.25)}, {"rsqrt.approx.f64", {d(16)}, d(0.25)},
           {"div.approx.f32", {f(1), f(0x1p127f)}, 0}, {"div.approx.f32", {f(kInf), f(0x1p127f)}, kNan},
           {"div.full.f32", {f(1), f(0x1p127f)}, f(0x1p-127f)}, {"div.approx.ftz.f32", {f(6), f(3)}, f(2)},
           {"div.full.ftz.f32", {f(6), f(3)}, f(2)},
           {"ex2.approx.ftz.f32", {f(3)}, f(8)}, {"ex2.approx.ftz.f32", {f(-130)}, 0},
           {"ex2.approx.f32", {f(-127)}, f(0x1p-127f)}, {"lg2.approx.f32", {f(8)}, f(3)}, {"lg2.approx.f32", {0}, f(-kInf)},
           {"rcp.approx.f32", {minus}, f(-kInf)}, {"sqrt.approx.f32", {f(-1)}, kNan}, {"rsqrt.approx.f32", {f(4)}, f(0.5f)},
           {"sin.approx.f32", {minus}, minus}, {"cos.approx.f32", {0}, f(1)}, {"tanh.approx.f32", {f(kInf)}, f(1)}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form << std::hex << ' ' << operands[0];
  }
}

TEST(ConversionSemantics, FollowTheManual) {
  std::uint64_t const nan = 0x7fc00000, k64 = ~std::uint64_t{0};
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"cvt.s64.s32", {0xffffffff}, k64}, {"cvt.u64.u32", {0xffffffff}, 0xffffffff},
           {"cvt.u32.u64", {k64}, 0xffffffff}, {"cvt.s32.s8", {0x80}, 0xffffff80}, {"cvt.u32.u8", {0x1ff}, 0xff},
           {"cvt.u16.u32", {0x12345}, 0x2345}, {"cvt.s16.s32", {0x18000}, 0x8000},
           {"cvt.sat.u8.s32", {300}, 255}, {"cvt.sat.u8.s32", {0xffffffff}, 0}, {"cvt.sat.s8.s32", {0xffffff00}, 0xff80},
           {"cvt.sat.s32.u32", {0xffffffff}, 0x7fffffff}, {"cvt.sat.u32.s64", {k64}, 0},
           {"cvt.rzi.s32.f32", {f(-1.9f)}, 0xffffffff}, {"cvt.rni.s32.f32", {f(2.5f)}, 2},
           {"cvt.rmi.s32.f32", {f(-1.1f)}, 0xfffffffe}, {"cvt.rpi.s32.f32", {f(1.1f)}, 2},
           {"cvt.rzi.s32.f32", {f(3e9f)}, 0x7fffffff}, {"cvt.rzi.u32.f32", {f(-5)}, 0}, {"cvt.rzi.s32.f32", {nan}, 0},
           {"cvt.rzi.s64.f32", {nan}, std::uint64_t{1} << 63}, {"cvt.rzi.s32.f64", {d(std::nan(""))}, 0x80000000},
           {"cvt.rzi.s8.f64", {d(std::nan(""))}, 0xff80}, {"cvt.rzi.s64.f64", {d(std::nan(""))}, std::uint64_t{1} << 63},
           {"cvt.rzi.u64.f64", {d(1e30)}, k64}, {"cvt.rzi.u8.f32", {f(300)}, 255},
           {"cvt.rzi.s64.f64", {d(-1e30)}, std::uint64_t{1} << 63},
           {"cvt.rn.f32.s32", {0x01000001}, f(16777216)}, {"cvt.rp.f32.s32", {0x01000001}, f(16777218)},
           {"cvt.rz.f32.u64", {k64}, 0x5f7fffff}, {"cvt.rn.f32.u64", {k64}, 0x5f800000}, {"cvt.rn.f64.s64", {k64}, d(-1)},
           {"cvt.rn.f64.s32", {0xffffffff}, d(-1)}, {"cvt.rm.f32.s32", {0xfeffffff}, f(-16777218)},
           {"cvt.rn.f16.s32", {70000}, 0x7c00}, {"cvt.rz.f16.s32", {70000}, 0x7bff}, {"cvt.rn.f32.u32", {5}, f(5)},
           {"cvt.f64.f32", {f(1.5f)}, d(1.5)}, {"cvt.rn.f32.f64", {d(1 + 0x1p-24)}, f(1)},
           {"cvt.rp.f32.f64", {d(1 + 0x1p-50)}, f(1 + 0x1p-23f)}, {"cvt.rn.f32.f64", {d(1e300)}, f(kInf)},
           {"cvt.rz.f32.f64", {d(1e300)}, 0x7f7fffff}, {"cvt.rn.ftz.f32.f64", {d(1e-40)}, 0},
           {"cvt.rn.f32.f64", {d(0x1p-149)}, 1}, {"cvt.rn.f32.f64", {d(0x1p-150)}, 0}, {"cvt.rn.f32.f64", {d(0x1.8p-150)}, 1},
           {"cvt.rn.f16.f32", {f(65519)}, 0x7bff}, {"cvt.rn.f16.f32", {f(65520)}, 0x7c00},
           {"cvt.rn.f16.f32", {f(0x1p-25f)}, 0}, {"cvt.rn.f16.f32", {f(0x1.8p-25f)}, 1},
           {"cvt.rp.f16.f32", {f(0x1p-100f)}, 1}, {"cvt.rm.f16.f32", {f(-0x1p-100f)}, 0x8001},
           {"cvt.rn.f16.f32", {nan}, 0x7fff}, {"cvt.rn.f16.f64", {d(1 + 0x1p-11 + 0x1p-40)}, 0x3c01},
           {"cvt.f32.f16", {0x0001}, f(0x1p-24f)}, {"cvt.f32.f16", {0xfc00}, f(-kInf)}, {"cvt.f64.f16", {0x3c00}, d(1)},
           {"cvt.sat.f32.f32", {f(2)}, f(1)}, {"cvt.sat.f32.f32", {nan}, 0}, {"cvt.sat.f32.f32", {f(0.25f)}, f(0.25f)},
           {"cvt.rni.f32.f32", {f(2.5f)}, f(2)}, {"cvt.rzi.ftz.f32.f32", {f(-2.5f)}, f(-2)},
           {"cvt.rmi.f64.f64", {d(-2.5)}, d(-3)}, {"cvt.rn.f16x2.f32", {f(1), f(2)}, 0x3c004000}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form << std::hex << ' ' << operands[0];
  }
}

TEST(HalfSemantics, FollowTheManual) {
  // 0x3c00 is one, 0x0001 the least denormal, 0x7bff the greatest number.
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"add.f16", {0x3c00, 0x3c00}, 0x4000}, {"add.f16", {0x7bff, 0x7bff}, 0x7c00}, {"add.f16", {0x0001, 0x0001}, 2},
           {"add.ftz.f16", {0x0001, 0x8001}, 0}, {"add.sat.f16", {0x4000, 0x4000}, 0x3c00},
           {"add.f16", {0x7c00, 0xfc00}, 0x7fff}, {"sub.f16", {0x4000, 0x3c00}, 0x3c00},
           {"mul.f16", {0x4000, 0x4200}, 0x4600}, {"mul.f16", {0x0400, 0x3800}, 0x0200},
           {"add.rn.f16", {0x3c00, 0x1000}, 0x3c00}, {"fma.rn.f16", {0x4000, 0x4200, 0x3c00}, 0x4700},
           // (1 + 3/1024) squared minus one: with a rounding after the product it would be 0x1e00.
           {"fma.rn.f16", {0x3c03, 0x3c03, 0xbc00}, 0x1e02}, {"fma.rn.relu.f16", {0x3c00, 0xbc00, 0}, 0},
           {"fma.rn.sat.f16", {0x4000, 0x4000, 0}, 0x3c00},
           {"neg.f16", {0x3c00}, 0xbc00}, {"abs.f16", {0xbc00}, 0x3c00}, {"min.f16", {0x7e00, 0x3c00}, 0x3c00},
           {"max.NaN.f16", {0x7e00, 0x3c00}, 0x7fff}, {"max.f16", {0x8000, 0}, 0},
           {"add.f16x2", {0x3c004000, 0x3c003c00}, 0x40004200},
           {"fma.rn.f16x2", {0x3c004000, 0x40004000, 0x00003c00}, 0x40004500}, {"neg.f16x2", {0x3c004000}, 0xbc00c000},
           {"mul.f16x2", {0x40004000, 0x3c004000}, 0x40004400},
           {"setp.lt.f16", {0x3c00, 0x4000}, 1}, {"set.lt.f16.f16", {0x3c00, 0x4000}, 0x3c00},
           {"set.eq.f16x2.f16x2", {0x3c004000, 0x3c003c00}, 0x3c000000}, {"ex2.approx.f16", {0x4000}, 0x4400},
           {"tanh.approx.f16", {0}, 0}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form << std::hex << ' ' << operands[0];
  }
}

}  // namespace
}  // namespace cuda_cpu
