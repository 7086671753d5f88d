// Formats of 16 and 8 bits: bfloat, e4m3 and e5m2, against reference.h, which decodes a format by its definition and
// rounds by bisection of all its values in 113 bits, not by the tested conversions.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "cuda_cpu/executor/reference/apply_form.h"
#include "cuda_cpu/executor/reference/reference.h"
#include "tests/support/campaign.h"

// Tables with several rows in a line follow.
// clang-format off

namespace cuda_cpu {
namespace {

using namespace reference;
using Values = std::vector<std::uint64_t>;

Bits f(float value) { return std::bit_cast<std::uint32_t>(value); }
Bits d(double value) { return std::bit_cast<std::uint64_t>(value); }
float float_of(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double double_of(Bits bits) { return std::bit_cast<double>(bits); }
bool is_nan32(Bits bits) { return (bits & 0x7fffffff) > 0x7f800000; }

constexpr float kInf = std::numeric_limits<float>::infinity();

// Returns all values of a format, the middles between them, the numbers just beside both, and twice the greatest
// number, with both signs, as far as T can hold them.
template <class T>
std::vector<T> around_all_values(Format const& format) {
  std::vector<T> all;
  auto const& values = all_values(format);
  auto const add = [&](Exact exact) {
    auto const value = static_cast<T>(exact);
    for (T const near : {value, std::nextafter(value, T{0}), std::nextafter(value, std::numeric_limits<T>::infinity())})
      if (std::isfinite(near)) all.insert(all.end(), {near, -near});
  };
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    add(values[i]);
    add((values[i] + values[i + 1]) / 2);
  }
  add(values.back());
  add(2 * values.back());
  return all;
}

std::vector<Values> cases_of(std::vector<float> const& values) {
  std::vector<Values> cases;
  for (float const value : values) cases.push_back({f(value)});
  return cases;
}

std::vector<Values> all_16_bits(Bits distance = 1) {
  std::vector<Values> cases;
  for (Bits bits = 0; bits < 65536; bits += distance) cases.push_back({bits});
  return cases;
}

// Returns a sample of the cases, or all of them in a full campaign.
template <class T>
std::vector<T> sample_of(std::vector<T> const& all, std::size_t distance) {
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += tracing_test::campaign<std::size_t>(1, distance)) some.push_back(all[i]);
  return some;
}

Bits with_sign_of(Exact exact, Bits bits, Bits sign_source, Bits sign, Bits to_sign) {
  return exact == 0 && (sign_source & sign) != 0 ? bits | to_sign : bits;
}

TEST(BfloatSemantics, ConversionsFromFloatRoundOnceInEachDirection) {
  for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
    auto const values = sample_of(around_all_values<float>(kBfloat), mode == "rn" ? 1 : 7);
    auto const cases = cases_of(values);
    auto const results = apply_form("cvt." + mode + ".bf16.f32", cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bits const expected = with_sign_of(values[i], rounded(kBfloat, values[i], mode), cases[i][0], 1u << 31, 0x8000);
      ASSERT_EQ(results[i], expected) << mode << std::hex << ' ' << cases[i][0];
    }
    EXPECT_EQ(apply_form("cvt." + mode + ".bf16.f32", {{f(kInf)}, {f(-kInf)}, {0x7f800001}, {0xffc00000}}),
              (Values{0x7f80, 0xff80, 0x7fff, 0x7fff}));
  }
}

TEST(BfloatSemantics, ConversionsClampNegativeAndLargeNumbers) {
  auto const values = around_all_values<float>(kBfloat);
  std::vector<Values> cases;
  for (float const value : sample_of(values, 11)) cases.push_back({f(value)});
  for (float const special : {kInf, -kInf, std::nanf("")}) cases.push_back({f(special)});
  for (std::string const mode : {"rn", "rz"}) {
    for (std::string const clamps : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
      bool const relu = clamps.starts_with(".relu"), satfinite = clamps.ends_with("satfinite");
      for (auto const& [format, name] : {std::pair(kBfloat, "bf16"), std::pair(kHalf, "f16")}) {
        auto const results = apply_form("cvt." + mode + clamps + "." + name + ".f32", cases);
        for (std::size_t i = 0; i < cases.size(); ++i) {
          float const value = float_of(cases[i][0]);
          Bits expected = format.nan;
          if (std::isinf(value))
            expected = (satfinite ? format.greatest : format.infinity) | (value < 0 ? 0x8000 : 0);
          else if (!std::isnan(value))
            expected = rounded(format, value, mode, satfinite);
          if (value == 0) expected |= std::signbit(value) ? 0x8000 : 0;
          if (relu && value < 0) expected = 0;
          ASSERT_EQ(results[i], expected) << mode << clamps << ' ' << name << std::hex << ' ' << cases[i][0];
        }
      }
    }
  }
}

TEST(BfloatSemantics, PairsConvertTheFirstFloatToTheUpperHalf) {
  auto const values = sample_of(around_all_values<float>(kBfloat), 11);
  std::vector<Values> cases;
  for (std::size_t i = 0; i < values.size(); ++i) cases.push_back({f(values[i]), f(values[values.size() - 1 - i])});
  for (auto const& [format, name] : {std::pair(kBfloat, "bf16x2"), std::pair(kHalf, "f16x2")}) {
    for (std::string const modifiers : {"rn", "rz", "rn.relu", "rz.satfinite", "rn.relu.satfinite"}) {
      auto const results = apply_form("cvt." + modifiers + "." + name + ".f32", cases);
      auto const half = [&, &format = format](Bits bits) {
        float const value = float_of(bits);
        if (modifiers.find("relu") != modifiers.npos && value < 0) return Bits{0};
        Bits const result = rounded(format, value, modifiers.substr(0, 2), modifiers.ends_with("satfinite"));
        return value == 0 && std::signbit(value) ? result | 0x8000 : result;
      };
      for (std::size_t i = 0; i < cases.size(); ++i)
        ASSERT_EQ(results[i], half(cases[i][0]) << 16 | half(cases[i][1])) << modifiers << ' ' << name << ' ' << i;
    }
  }
}

// A conversion by way of float would round the numbers just above a middle twice.
TEST(BfloatSemantics, ConversionsFromDoubleRoundOnce) {
  auto const values = sample_of(around_all_values<double>(kBfloat), 5);
  std::vector<Values> cases;
  for (double const value : values) cases.push_back({d(value)});
  int wrong_through_float = 0;
  for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
    auto const results = apply_form("cvt." + mode + ".bf16.f64", cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bits const expected =
          with_sign_of(values[i], rounded(kBfloat, values[i], mode), cases[i][0], Bits{1} << 63, 0x8000);
      ASSERT_EQ(results[i], expected) << mode << std::hex << ' ' << cases[i][0];
      float const single = static_cast<float>(values[i]);
      wrong_through_float +=
          mode == "rn" && std::isfinite(single) && rounded(kBfloat, single) != rounded(kBfloat, values[i]);
    }
  }
  EXPECT_GT(wrong_through_float, 1000);
  EXPECT_EQ(apply_form("cvt.rn.bf16.f64", {{d(std::nan(""))}, {d(-std::numeric_limits<double>::infinity())}}),
            (Values{0x7fff, 0xff80}));
}

TEST(BfloatSemantics, ConversionsOfAllValuesToWiderFormatsAreExact) {
  auto const cases = all_16_bits();
  auto const singles = apply_form("cvt.f32.bf16", cases);
  auto const doubles = apply_form("cvt.f64.bf16", cases);
  for (Bits bits = 0; bits < 65536; ++bits) {
    if (is_nan(kBfloat, bits)) {
      ASSERT_TRUE(is_nan32(singles[bits]) && std::isnan(double_of(doubles[bits]))) << std::hex << bits;
      continue;
    }
    Exact const exact = is_infinite(kBfloat, bits) ? Exact{bits == 0x7f80 ? kInf : -kInf} : value_of(kBfloat, bits);
    ASSERT_EQ(singles[bits], with_sign_of(exact, f(static_cast<float>(exact)), bits, 0x8000, 1u << 31)) << bits;
    ASSERT_EQ(doubles[bits], with_sign_of(exact, d(static_cast<double>(exact)), bits, 0x8000, Bits{1} << 63)) << bits;
  }
}

TEST(BfloatSemantics, ConversionsOfAllValuesFromAndToHalvesRoundOnce) {
  auto const cases = all_16_bits();
  for (bool const to_half : {true, false}) {
    Format const &from = to_half ? kBfloat : kHalf, &to = to_half ? kHalf : kBfloat;
    for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
      auto const results = apply_form("cvt." + mode + (to_half ? ".f16.bf16" : ".bf16.f16"), cases);
      for (Bits bits = 0; bits < 65536; ++bits) {
        Bits expected = to.nan;
        if (is_infinite(from, bits))
          expected = to.infinity | (bits & 0x8000);
        else if (!is_nan(from, bits)) {
          Exact const exact = value_of(from, bits);
          expected = with_sign_of(exact, rounded(to, exact, mode), bits, 0x8000, 0x8000);
        }
        ASSERT_EQ(results[bits], expected) << mode << ' ' << to_half << std::hex << ' ' << bits;
      }
    }
  }
}

// Rounds `value` to an integer by a mode such as "rni".
Exact integral(Exact value, std::string_view mode) {
  Exact const whole = Exact{std::floor(static_cast<double>(value))};  // exact: a bfloat fits into a double
  Exact const rest = value - whole;
  bool up = rest * 2 > 1 || (rest * 2 == 1 && std::fmod(static_cast<double>(whole), 2.0) != 0);
  if (mode == "rzi") up = value < 0 && rest != 0;
  if (mode == "rmi") up = false;
  if (mode == "rpi") up = rest != 0;
  return up ? whole + 1 : whole;
}

template <class T>
void check_to_integer(std::string const& type) {
  using Limits = std::numeric_limits<T>;
  // Tests all values to nearest, and a sample in the other directions.
  for (std::string const mode : {"rni", "rzi", "rmi", "rpi"}) {
    auto const cases = all_16_bits(tracing_test::campaign<Bits>(1, mode == "rni" ? 1 : 7));
    auto const results = apply_form("cvt." + mode + "." + type + ".bf16", cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bits const bits = cases[i][0];
      if (is_nan(kBfloat, bits)) continue;
      Exact const exact = integral(value_of(kBfloat, bits), mode);
      T expected = Limits::max();
      if (exact < static_cast<Exact>(Limits::min()))
        expected = Limits::min();
      else if (exact < static_cast<Exact>(Limits::max()))
        expected = static_cast<T>(exact);
      ASSERT_EQ(static_cast<T>(results[i]), expected) << mode << type << std::hex << ' ' << bits;
    }
  }
}

TEST(BfloatSemantics, ConversionsOfAllValuesToIntegersClamp) {
  check_to_integer<std::uint16_t>("u16");
  check_to_integer<std::int16_t>("s16");
  check_to_integer<std::uint32_t>("u32");
  check_to_integer<std::int32_t>("s32");
  check_to_integer<std::uint64_t>("u64");
  check_to_integer<std::int64_t>("s64");
  EXPECT_EQ(apply_form("cvt.rzi.s32.bf16", {{0x7fc0}})[0], 0u);
  EXPECT_EQ(apply_form("cvt.rzi.u64.bf16", {{0x7fc0}})[0], Bits{1} << 63);
}

TEST(BfloatSemantics, AllValuesRoundToIntegersOfTheirOwn) {
  auto const cases = all_16_bits();
  for (std::string const mode : {"rni", "rzi", "rmi", "rpi"}) {
    auto const results = apply_form("cvt." + mode + ".bf16.bf16", cases);
    for (Bits bits = 0; bits < 65536; ++bits) {
      Bits expected = is_nan(kBfloat, bits) ? kBfloat.nan : bits;
      if (!is_nan(kBfloat, bits) && !is_infinite(kBfloat, bits)) {
        Exact const exact = integral(value_of(kBfloat, bits), mode);
        expected = with_sign_of(exact, rounded(kBfloat, exact), bits, 0x8000, 0x8000);
      }
      ASSERT_EQ(results[bits], expected) << mode << std::hex << ' ' << bits;
    }
  }
}

template <class T>
void check_from_integer(std::string const& type) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(3);
  std::vector<T> values = {0, 1, Limits::max(), Limits::min(), T(Limits::max() - 1)};
  for (int bit = 8; bit < Limits::digits; ++bit) {  // the middles between two bfloats, and numbers beside them
    for (int i = 0; i < 64; ++i) {
      auto const middle = static_cast<T>(((T{257} + T(2 * (random() % 128))) << (bit - 8)));
      for (int const near : {-1, 0, 1}) values.push_back(static_cast<T>(middle + static_cast<T>(near)));
    }
  }
  for (int i = 0; i < 2000; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  std::vector<Values> cases;
  for (T const value : values) cases.push_back({static_cast<Bits>(value)});
  for (std::string const mode : {"rn", "rz", "rm", "rp"}) {
    auto const results = apply_form("cvt." + mode + ".bf16." + type, cases);
    for (std::size_t i = 0; i < cases.size(); ++i)
      ASSERT_EQ(results[i], rounded(kBfloat, static_cast<Exact>(values[i]), mode)) << mode << type << ' ' << values[i];
  }
}

TEST(BfloatSemantics, ConversionsFromIntegersRoundOnce) {
  check_from_integer<std::uint16_t>("u16");
  check_from_integer<std::int16_t>("s16");
  check_from_integer<std::uint32_t>("u32");
  check_from_integer<std::int32_t>("s32");
  check_from_integer<std::uint64_t>("u64");
  check_from_integer<std::int64_t>("s64");
}

TEST(BfloatSemantics, NegAndAbsChangeOnlyTheSignOfAllValues) {
  auto const cases = all_16_bits();
  auto const negated = apply_form("neg.bf16", cases), absolute = apply_form("abs.bf16", cases);
  for (Bits bits = 0; bits < 65536; ++bits) {
    if (is_nan(kBfloat, bits)) {
      ASSERT_TRUE(is_nan(kBfloat, negated[bits]) && is_nan(kBfloat, absolute[bits])) << bits;
      continue;
    }
    ASSERT_EQ(negated[bits], bits ^ 0x8000) << bits;
    ASSERT_EQ(absolute[bits], bits & 0x7fff) << bits;
  }
  EXPECT_EQ(apply_form("neg.bf16x2", {{0x3f804000}})[0], 0xbf80c000u);
  EXPECT_EQ(apply_form("abs.bf16x2", {{0xbf804000}})[0], 0x3f804000u);
}

// The manual's bounds: 2^-7 relative for ex2, and for tanh 2^-8 relative or half a unit in the last place.
TEST(BfloatSemantics, ApproximationsOfAllValuesStayWithinTheBoundsOfTheManual) {
  auto const cases = all_16_bits();
  auto const powers = apply_form("ex2.approx.ftz.bf16", cases), tangents = apply_form("tanh.approx.bf16", cases);
  for (Bits bits = 0; bits < 65536; ++bits) {
    if (is_nan(kBfloat, bits)) {
      ASSERT_EQ(powers[bits], 0x7fffu);
      ASSERT_EQ(tangents[bits], 0x7fffu);
      continue;
    }
    long double const x = is_infinite(kBfloat, bits) ? ((bits & 0x8000) != 0 ? -kInf : kInf)
                                                     : static_cast<long double>(value_of(kBfloat, bits));
    long double const power = std::exp2(x), tangent = std::tanh(x);
    if (power >= 0x1.ffp127L) {
      ASSERT_EQ(powers[bits], 0x7f80u) << std::hex << bits;
    } else if (power < 0x1p-126L) {
      ASSERT_TRUE(powers[bits] == 0 || powers[bits] == 0x80) << std::hex << bits;
    } else {
      ASSERT_LE(std::fabs(static_cast<long double>(value_of(kBfloat, powers[bits])) - power), power * 0x1p-7L) << bits;
    }
    ASSERT_LE(std::fabs(static_cast<long double>(value_of(kBfloat, tangents[bits])) - tangent),
              std::max(std::fabs(tangent) * 0x1p-8L, 0x1p-134L))
        << bits;
  }
  EXPECT_EQ(apply_form("ex2.approx.ftz.bf16", {{0}, {0x8001}, {0x4000}, {0xff80}}),
            (Values{0x3f80, 0x3f80, 0x4080, 0}));
  EXPECT_EQ(apply_form("ex2.approx.ftz.bf16x2", {{0x40000000}})[0], 0x40803f80u);
  EXPECT_EQ(apply_form("tanh.approx.bf16x2", {{0x7f808000}})[0], 0x3f808000u);
}

// Returns interesting bfloats of both signs: zero, denormals, the ends of the range, and others.
std::vector<Bits> edges() {
  std::vector<Bits> all = {0,      1,      2,      3,      0x7e,   0x7f,   0x80,   0x81,   0xff,   0x100,
                           0x3f80, 0x3f81, 0x3fff, 0x4000, 0x4049, 0x3f7f, 0x3e00, 0x3c00, 0x3b80, 0x4300,
                           0x4380, 0x7f00, 0x7f7e, 0x7f7f, 0x7e80, 0x0b00, 0x7f80, 0x7fc0, 0x7f81};
  for (std::size_t i = 0, count = all.size(); i < count; ++i) all.push_back(all[i] | 0x8000);
  return all;
}

std::vector<Values> operands(std::size_t arity) {
  std::vector<Values> cases;
  auto const some = edges();
  for (Bits const a : some)
    for (Bits const b : some) cases.push_back({a, b, (a * 31 + b) & 0xffff});
  std::minstd_rand random(17);
  for (int i = 0; i < tracing_test::campaign(500'000, 20'000); ++i) {
    Values one;
    Bits const exponent = random() % 200;
    for (int k = 0; k < 3; ++k)
      one.push_back((random() & 0x807f) | (exponent + random() % 20) << 7);  // their exponents are near each other
    if (i % 3 == 0) one[2] = random() & 0xffff;
    cases.push_back(one);
  }
  for (auto& one : cases) one.resize(arity);
  return cases;
}

// Returns the rounded result of an operation, whose exact result `compute` gives; nothing for NaN and infinite
// operands.
template <class Compute>
std::optional<Bits> expected_of(Values const& one, Compute const& compute) {
  std::vector<Exact> values;
  for (Bits const bits : one) {
    if (is_nan(kBfloat, bits) || is_infinite(kBfloat, bits)) return std::nullopt;
    values.push_back(value_of(kBfloat, bits));
  }
  values.resize(3);
  Exact const exact = compute(values[0], values[1], values[2]);
  if (exact == 0) return std::nullopt;
  return rounded(kBfloat, exact);
}

template <class Compute>
void check_arithmetic(std::string const& op, std::size_t arity, Compute const& compute) {
  auto const cases = operands(arity);
  auto const results = apply_form(op + ".bf16", cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto const expected = expected_of(cases[i], compute);
    if (!expected) continue;  // see SpecialValuesFollowTheManual
    ASSERT_EQ(results[i], *expected) << op << std::hex << ' ' << cases[i][0] << ' ' << cases[i][1];
  }
  // A pair holds two cases.
  std::vector<Values> pairs;
  for (std::size_t i = 0; i + 1 < cases.size(); i += 2) {
    pairs.emplace_back();
    for (std::size_t k = 0; k < arity; ++k) pairs.back().push_back(cases[i + 1][k] << 16 | cases[i][k]);
  }
  auto const of_pairs = apply_form(op + ".bf16x2", pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    ASSERT_EQ(of_pairs[i], results[2 * i + 1] << 16 | results[2 * i]) << op << ' ' << i;
}

TEST(BfloatSemantics, ArithmeticRoundsOnce) {
  auto const add = [](Exact a, Exact b, Exact) { return sum(a, b); };
  auto const sub = [](Exact a, Exact b, Exact) { return sum(a, -b); };
  auto const mul = [](Exact a, Exact b, Exact) { return a * b; };
  check_arithmetic("add", 2, add);
  check_arithmetic("add.rn", 2, add);
  check_arithmetic("sub", 2, sub);
  check_arithmetic("sub.rn", 2, sub);
  check_arithmetic("mul", 2, mul);
  check_arithmetic("mul.rn", 2, mul);
  auto const fma = [](Exact a, Exact b, Exact c) { return sum(a * b, c); };
  check_arithmetic("fma.rn", 3, fma);
  check_arithmetic("fma.rn.relu", 3, [fma](Exact a, Exact b, Exact c) { return fma(a, b, c) < 0 ? 0 : fma(a, b, c); });
}

// 0x3f81 * 0x4100 + tiny is just beside the middle between two bfloats, where the product alone is in the middle. The
// addend is too small for a double to hold the sum.
TEST(BfloatSemantics, FusedMultiplyAddSeesAddendsThatAreFarSmaller) {
  std::vector<Values> cases;
  for (Bits a = 0x3f81; a < 0x4000; a += 2)
    for (Bits const b : {0x3fc0u, 0xbfc0u, 0x3f81u})
      for (Bits const tiny : {0x0001u, 0x8001u, 0x1080u, 0x9080u}) cases.push_back({a, b, tiny});
  auto const results = apply_form("fma.rn.bf16", cases);
  int wrong_without = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Exact const product = value_of(kBfloat, cases[i][0]) * value_of(kBfloat, cases[i][1]);
    Bits const expected = rounded(kBfloat, sum(product, value_of(kBfloat, cases[i][2])));
    ASSERT_EQ(results[i], expected) << std::hex << cases[i][0] << ' ' << cases[i][1] << ' ' << cases[i][2];
    wrong_without += rounded(kBfloat, product) != expected;
  }
  EXPECT_GT(wrong_without, 20);
}

struct Row {
  char const* form;
  Values operands;
  Bits expected;
};

TEST(BfloatSemantics, SpecialValuesFollowTheManual) {
  constexpr Bits kNan = 0x7fc1, kInfinity = 0x7f80, kOne = 0x3f80;
  for (auto const& [form, operands, expected] :
       std::initializer_list<Row>{{"add.bf16", {kInfinity, 0xff80}, 0x7fff},
                                  {"add.bf16", {kNan, kOne}, 0x7fff},
                                  {"add.bf16", {0, 0x8000}, 0},
                                  {"add.bf16", {0x8000, 0x8000}, 0x8000},
                                  {"add.bf16", {0x7f7f, 0x7f7f}, kInfinity},
                                  {"sub.bf16", {kOne, kOne}, 0},
                                  {"sub.bf16", {kInfinity, kInfinity}, 0x7fff},
                                  {"mul.bf16", {kInfinity, 0}, 0x7fff},
                                  {"mul.bf16", {0x8000, kOne}, 0x8000},
                                  {"mul.bf16", {1, 0x3f00}, 0},
                                  {"fma.rn.bf16", {kInfinity, kOne, 0xff80}, 0x7fff},
                                  {"fma.rn.bf16", {kOne, kOne, 0xbf80}, 0},
                                  {"fma.rn.relu.bf16", {kNan, kOne, kOne}, 0x7fff},
                                  {"fma.rn.relu.bf16", {kOne, 0xc000, kOne}, 0},
                                  {"fma.rn.relu.bf16x2", {0x3f803f80, 0xc0004000, 0}, 0x4000},
                                  {"min.bf16", {kNan, kOne}, kOne},
                                  {"max.bf16", {kOne, kNan}, kOne},
                                  {"min.bf16", {kNan, kNan}, 0x7fff},
                                  {"min.NaN.bf16", {kNan, kOne}, 0x7fff},
                                  {"max.NaN.bf16", {kOne, 0xffc0}, 0x7fff},
                                  {"min.bf16", {0, 0x8000}, 0x8000},
                                  {"max.bf16", {0x8000, 0}, 0},
                                  {"max.NaN.bf16", {kOne, 0x4000}, 0x4000},
                                  {"min.NaN.bf16x2", {0x7fc13f80, 0x3f804000}, 0x7fff3f80},
                                  {"max.bf16x2", {0x7fc13f80, 0x3f804000}, 0x3f804000},
                                  {"min.bf16x2", {0x3f803f80, 0xbf804000}, 0xbf803f80},
                                  {"max.NaN.bf16x2", {0x3f803f80, 0x40000000}, 0x40003f80},
                                  {"setp.lt.bf16", {kOne, 0x4000}, 1},
                                  {"setp.lt.bf16", {kNan, 0x4000}, 0},
                                  {"setp.ltu.bf16", {kNan, 0x4000}, 1},
                                  {"setp.eq.bf16", {0, 0x8000}, 1},
                                  {"setp.neu.bf16", {kOne, kNan}, 1},
                                  {"setp.gt.bf16", {0x4000, kOne}, 1},
                                  {"setp.gt.and.bf16", {0x4000, kOne, 0}, 0},
                                  {"setp.gt.or.bf16", {kOne, kOne, 1}, 1},
                                  {"set.lt.bf16.bf16", {kOne, 0x4000}, kOne},
                                  {"set.lt.u16.bf16", {kOne, 0x4000}, 0xffff},
                                  {"set.lt.u32.bf16", {kOne, 0x4000}, 0xffffffff},
                                  {"set.gt.s32.bf16", {kOne, 0x4000}, 0},
                                  {"set.eq.bf16x2.bf16x2", {0x3f804000, 0x3f803f80}, 0x3f800000},
                                  {"set.eq.u32.bf16x2", {0x3f804000, 0x3f803f80}, 0xffff0000},
                                  {"set.eq.u32.f16x2", {0x3c004000, 0x3c003c00}, 0xffff0000},
                                  {"set.ne.u32.f16x2", {0x3c004000, 0x3c003c00}, 0xffff},
                                  {"set.lt.u32.f16", {0x3c00, 0x4000}, 0xffffffff},
                                  {"set.equ.and.f16x2.f16x2", {0x3c007e00, 0x3c003c00, 1}, 0x3c003c00}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form << std::hex << ' ' << operands[0];
  }
  std::vector<Bits> upper;
  EXPECT_EQ(apply_form("setp.lt.bf16x2", {{0x40003f80, 0x3f804000}}, &upper)[0], 1u);
  EXPECT_EQ(upper[0], 0u);
}

// All comparisons and extremes of pairs of edges, by the definition of their names.
TEST(BfloatSemantics, ComparisonsAndExtremesAgreeWithTheValues) {
  std::vector<Values> cases;
  for (Bits const a : edges())
    for (Bits const b : edges()) cases.push_back({a, b});
  auto const value = [](Bits bits) {
    return is_infinite(kBfloat, bits) ? ((bits & 0x8000) != 0 ? -2 : 2) * value_of(kBfloat, 0x7f7f)
                                      : value_of(kBfloat, bits);
  };
  for (std::string const name :
       {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) {
    auto const results = apply_form("setp." + name + ".bf16", cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      bool const unordered = is_nan(kBfloat, cases[i][0]) || is_nan(kBfloat, cases[i][1]);
      Exact const a = value(cases[i][0]), b = value(cases[i][1]);
      std::string const relation = name.substr(0, 2);
      bool const holds = relation == "eq"   ? a == b
                         : relation == "ne" ? a != b
                         : relation == "lt" ? a < b
                         : relation == "le" ? a <= b
                         : relation == "gt" ? a > b
                                            : a >= b;
      bool const expected = name == "num"   ? !unordered
                            : name == "nan" ? unordered
                            : unordered     ? name.size() == 3
                                            : holds;
      ASSERT_EQ(results[i], expected ? 1u : 0u) << name << std::hex << ' ' << cases[i][0] << ' ' << cases[i][1];
    }
  }
  auto const least = apply_form("min.bf16", cases), greatest = apply_form("max.bf16", cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto const [a, b] = std::pair(cases[i][0], cases[i][1]);
    if (is_nan(kBfloat, a) || is_nan(kBfloat, b)) continue;
    bool const first = value(a) < value(b) || (value(a) == value(b) && (a & 0x8000) != 0);
    ASSERT_EQ(least[i], first ? a : b);
    ASSERT_EQ(greatest[i], first ? b : a);
  }
}

// Rounds to nearest, clamps to the greatest number, and keeps the sign of zero.
Bits to_byte(Format const& format, float value, bool relu) {
  if (std::isnan(value)) return format.nan;
  if (relu && value < 0) return 0;
  Bits const magnitude = std::isinf(value) ? format.greatest : rounded(format, std::fabs(value), "rn", true);
  return magnitude | (std::signbit(value) ? format.sign : 0);
}

struct ByteFormat {
  Format format;
  std::string name;
};
ByteFormat const kByteFormats[] = {{kE4m3, "e4m3x2"}, {kE5m2, "e5m2x2"}};

TEST(Fp8Semantics, ConversionsFromFloatsRoundOnceAndClamp) {
  for (auto const& [format, name] : kByteFormats) {
    auto values = around_all_values<float>(format);
    for (float const special : {kInf, -kInf, std::nanf(""), 1e30f, -1e-40f}) values.push_back(special);
    std::vector<Values> cases;
    for (std::size_t i = 0; i < values.size(); ++i) cases.push_back({f(values[i]), f(values[values.size() - 1 - i])});
    for (bool const relu : {false, true}) {
      auto const results = apply_form(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + name + ".f32", cases);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        Bits const expected =
            to_byte(format, float_of(cases[i][0]), relu) << 8 | to_byte(format, float_of(cases[i][1]), relu);
        ASSERT_EQ(results[i], expected) << name << std::hex << ' ' << cases[i][0] << ' ' << cases[i][1];
      }
    }
  }
}

TEST(Fp8Semantics, ConversionsOfAllHalvesRoundOnceAndClamp) {
  std::vector<Values> cases;
  for (Bits bits = 0; bits < 65536; ++bits) cases.push_back({bits << 16 | (bits ^ 0x5555)});
  auto const value = [](Bits bits) {
    if (is_nan(kHalf, bits)) return std::nanf("");
    if (is_infinite(kHalf, bits)) return (bits & 0x8000) != 0 ? -kInf : kInf;
    return std::copysign(static_cast<float>(value_of(kHalf, bits)), (bits & 0x8000) != 0 ? -1.0f : 1.0f);
  };
  for (auto const& [format, name] : kByteFormats) {
    for (bool const relu : {false, true}) {
      auto const results =
          apply_form(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + name + ".f16x2", cases);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        Bits const pair = cases[i][0];
        Bits const expected =
            to_byte(format, value(pair >> 16), relu) << 8 | to_byte(format, value(pair & 0xffff), relu);
        ASSERT_EQ(results[i], expected) << name << std::hex << ' ' << pair;
      }
    }
  }
}

TEST(Fp8Semantics, AllCodesConvertExactlyToHalves) {
  std::vector<Values> cases;
  for (Bits bits = 0; bits < 256; ++bits) cases.push_back({bits << 8 | (255 - bits)});
  for (auto const& [format, name] : kByteFormats) {
    for (bool const relu : {false, true}) {
      auto const half = [&, &format = format](Bits bits) {
        if (is_nan(format, bits)) return Bits{0x7fff};
        bool const negative = (bits & 0x80) != 0;
        if (is_infinite(format, bits)) return negative ? (relu ? Bits{0} : Bits{0xfc00}) : Bits{0x7c00};
        Exact const exact = value_of(format, bits);
        if (relu && exact < 0) return Bits{0};
        Bits const result = rounded(kHalf, exact);
        EXPECT_EQ(value_of(kHalf, result), exact) << "a half holds each of these numbers";
        return exact == 0 && negative ? result | 0x8000 : result;
      };
      auto const results = apply_form(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + name, cases);
      for (std::size_t i = 0; i < cases.size(); ++i)
        ASSERT_EQ(results[i], half(cases[i][0] >> 8) << 16 | half(cases[i][0] & 255)) << name << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace cuda_cpu
