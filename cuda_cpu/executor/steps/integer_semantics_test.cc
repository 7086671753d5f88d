// Instructions on integers and bits, with results computed by hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "cuda_cpu/executor/reference/apply_form.h"

// Tables with several rows in a line follow.
// clang-format off

namespace cuda_cpu {
namespace {

using Values = std::vector<std::uint64_t>;

struct Row {
  char const* form;
  Values operands;
  std::uint64_t expected;
};

constexpr std::uint64_t k32 = 0xffffffff;
constexpr std::uint64_t k64 = ~std::uint64_t{0};

TEST(IntegerSemantics, FollowTheManual) {
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"add.s32", {0x7fffffff, 1}, 0x80000000}, {"add.u16", {0xffff, 2}, 1}, {"add.s64", {k64, 1}, 0},
           {"add.u64", {1, 2}, 3}, {"add.u32", {k32, k32}, k32 - 1}, {"add.s16", {0x8000, 0x8000}, 0},
           {"add.sat.s32", {0x7fffffff, 1}, 0x7fffffff}, {"add.sat.s32", {0x80000000, k32}, 0x80000000},
           {"add.sat.s32", {5, k32}, 4},
           {"sub.s32", {0, 1}, k32}, {"sub.u64", {0, 1}, k64}, {"sub.s64", {5, 7}, k64 - 1}, {"sub.u16", {0, 1}, 0xffff},
           {"sub.sat.s32", {0x80000000, 1}, 0x80000000},
           {"mul.lo.s32", {0x10000, 0x10001}, 0x10000}, {"mul.lo.u64", {k64, k64}, 1}, {"mul.lo.s64", {k64, 5}, k64 - 4},
           {"mul.lo.u16", {0xffff, 0xffff}, 1}, {"mul.lo.u32", {3, 5}, 15},
           {"mul.hi.s32", {k32, 1}, k32}, {"mul.hi.u32", {k32, k32}, k32 - 1}, {"mul.hi.s64", {k64, 1}, k64},
           {"mul.hi.u64", {k64, k64}, k64 - 1}, {"mul.hi.u16", {0xffff, 0xffff}, 0xfffe},
           {"mul.hi.s16", {0x8000, 0x8000}, 0x4000},
           {"mul.wide.s32", {k32, 4}, k64 - 3}, {"mul.wide.u32", {k32, 4}, 4 * k32}, {"mul.wide.s16", {0xffff, 2}, k32 - 1},
           {"mul.wide.u16", {0xffff, 2}, 0x1fffe},
           {"mad.lo.s32", {3, k32, 10}, 7}, {"mad.lo.u64", {3, 4, 5}, 17}, {"mad.hi.u32", {k32, k32, 1}, k32},
           {"mad.wide.s32", {k32, 4, 10}, 6}, {"mad.wide.u32", {k32, 2, 1}, 2 * k32 + 1},
           {"mad.hi.sat.s32", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
           {"mul24.lo.u32", {0xff000003, 5}, 15}, {"mul24.lo.s32", {0xffffff, 5}, k32 - 4},
           {"mul24.hi.u32", {0xffffff, 0xffffff}, 0xfffffe00}, {"mad24.lo.s32", {2, 3, 4}, 10},
           {"sad.s32", {k32, 3, 10}, 14}, {"sad.u32", {k32, 3, 0}, k32 - 3}, {"sad.u16", {3, 5, 1}, 3},
           {"div.s32", {k32 - 6, 2}, k32 - 2}, {"div.u32", {7, 2}, 3}, {"div.s32", {0x80000000, k32}, 0x80000000},
           {"div.u64", {k64, 16}, k64 / 16}, {"div.s64", {k64, 2}, 0}, {"div.u32", {7, 0}, k32},
           {"div.s16", {0xfff9, 2}, 0xfffd}, {"div.u16", {9, 2}, 4},
           {"rem.s32", {k32 - 6, 4}, k32 - 2}, {"rem.u32", {7, 4}, 3}, {"rem.s32", {0x80000000, k32}, 0},
           {"rem.u64", {7, 0}, 7}, {"rem.s64", {7, k64 - 3}, 3},
           {"min.s32", {k32, 1}, k32}, {"min.u32", {k32, 1}, 1}, {"max.s32", {k32, 1}, 1}, {"max.u32", {k32, 1}, k32},
           {"min.s64", {k64, 1}, k64}, {"max.u64", {k64, 1}, k64}, {"min.s16", {0x8000, 1}, 0x8000},
           {"max.u16", {0x8000, 1}, 0x8000},
           {"neg.s32", {0x80000000}, 0x80000000}, {"neg.s64", {1}, k64}, {"neg.s16", {1}, 0xffff}, {"abs.s32", {k32}, 1},
           {"abs.s32", {0x80000000}, 0x80000000}, {"abs.s64", {k64}, 1}, {"abs.s16", {0xffff}, 1},
           {"dp4a.s32.s32", {0x01ff02fe, 0x01010101, 100}, 100}, {"dp4a.u32.u32", {0xffffffff, 0x01010101, 0}, 1020},
           {"dp4a.s32.u32", {k32, 0xff, 0}, k32 - 254},
           {"dp2a.lo.s32.s32", {0xffff0002, 0x0403ff05, 1}, 1 + 10 + 1},
           {"dp2a.hi.u32.u32", {0x00010002, 0x04030201, 0}, 6 + 4}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form;
  }
}

TEST(BitSemantics, FollowTheManual) {
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"and.b32", {0xf0f0, 0xff00}, 0xf000}, {"or.b64", {1, std::uint64_t{1} << 63}, (std::uint64_t{1} << 63) | 1},
           {"xor.b16", {0xffff, 0x0f0f}, 0xf0f0}, {"and.b64", {k64, 5}, 5}, {"or.b32", {1, 2}, 3}, {"xor.b32", {3, 1}, 2},
           {"not.b32", {0}, k32}, {"not.b64", {0}, k64}, {"not.b16", {1}, 0xfffe}, {"cnot.b32", {0}, 1}, {"cnot.b32", {7}, 0},
           {"and.pred", {1, 0}, 0}, {"or.pred", {1, 0}, 1}, {"xor.pred", {1, 1}, 0}, {"not.pred", {0}, 1}, {"mov.pred", {1}, 1},
           {"lop3.b32", {0xf0, 0xcc, 0xaa, 0x96}, 0xf0 ^ 0xcc ^ 0xaa}, {"lop3.b32", {0xf0, 0xcc, 0xaa, 0x80}, 0x80},
           {"lop3.b32", {0xf0, 0xcc, 0xaa, 0x01}, k32 & ~0xfeu},
           {"shl.b32", {1, 31}, 0x80000000}, {"shl.b32", {1, 32}, 0}, {"shl.b64", {1, 63}, std::uint64_t{1} << 63},
           {"shl.b16", {0xffff, 15}, 0x8000}, {"shl.b32", {1, k32}, 0},
           {"shr.u32", {0x80000000, 31}, 1}, {"shr.s32", {0x80000000, 31}, k32}, {"shr.s32", {0x80000000, 100}, k32},
           {"shr.u32", {k32, 32}, 0}, {"shr.s64", {std::uint64_t{1} << 63, 63}, k64}, {"shr.b32", {8, 3}, 1},
           {"shr.u64", {k64, 60}, 15}, {"shr.s16", {0x8000, 20}, 0xffff}, {"shr.u16", {0x8000, 15}, 1},
           {"shf.l.wrap.b32", {0x80000000, 1, 33}, 3}, {"shf.l.clamp.b32", {0x80000000, 1, 33}, 0x80000000},
           {"shf.r.wrap.b32", {2, 1, 1}, 0x80000001}, {"shf.r.clamp.b32", {2, 7, 40}, 7},
           {"prmt.b32", {0x33221100, 0x77665544, 0x7410}, 0x77441100}, {"prmt.b32", {0x33228000, 0, 0x0009}, 0x000000ff},
           {"prmt.b32.f4e", {0x33221100, 0x77665544, 1}, 0x44332211},
           {"prmt.b32.b4e", {0x33221100, 0x77665544, 1}, 0x66770011}, {"prmt.b32.rc8", {0x33221100, 0, 2}, 0x22222222},
           {"prmt.b32.ecl", {0x33221100, 0, 1}, 0x33221111}, {"prmt.b32.ecr", {0x33221100, 0, 2}, 0x22221100},
           {"prmt.b32.rc16", {0x33221100, 0, 1}, 0x33223322},
           {"popc.b32", {0xf0f}, 8}, {"popc.b64", {k64}, 64}, {"clz.b32", {0}, 32}, {"clz.b32", {1}, 31},
           {"clz.b64", {1}, 63}, {"brev.b32", {1}, 0x80000000}, {"brev.b64", {3}, std::uint64_t{3} << 62},
           {"bfind.u32", {0}, k32}, {"bfind.u32", {0x100}, 8}, {"bfind.s32", {k32 - 1}, 0}, {"bfind.s32", {k32}, k32},
           {"bfind.shiftamt.u32", {1}, 31}, {"bfind.u64", {std::uint64_t{1} << 40}, 40}, {"bfind.shiftamt.s64", {1}, 63},
           {"bfe.u32", {0xabcd, 4, 8}, 0xbc}, {"bfe.s32", {0xabcd, 4, 8}, 0xffffffbc}, {"bfe.u32", {0xabcd, 0, 0}, 0},
           {"bfe.s32", {0x80000000, 28, 10}, 0xfffffff8}, {"bfe.u32", {k32, 40, 4}, 0},
           {"bfe.s32", {0x80000000, 40, 4}, k32}, {"bfe.u64", {k64, 60, 32}, 15}, {"bfe.s64", {0xabcd, 4, 8}, k64 - 0x43},
           {"bfi.b32", {0xff, 0, 4, 4}, 0xf0}, {"bfi.b32", {0, k32, 8, 16}, 0xff0000ff},
           {"bfi.b64", {k64, 0, 60, 8}, std::uint64_t{15} << 60}, {"bfi.b32", {5, 7, 40, 2}, 7},
           {"bmsk.clamp.b32", {4, 8}, 0xff0}, {"bmsk.clamp.b32", {40, 8}, 0}, {"bmsk.wrap.b32", {36, 8}, 0xff0},
           {"szext.clamp.s32", {0x80, 8}, 0xffffff80}, {"szext.wrap.u32", {0x1ff, 40}, 0xff},
           {"cvta.global.u64", {12345}, 12345}, {"cvta.to.global.u64", {777}, 777}, {"mov.b32", {7}, 7},
           {"mov.u64", {k64}, k64}, {"mov.u32", {k32}, k32}, {"mov.f32", {0x7fc12345}, 0x7fc12345}, {"mov.f64", {k64}, k64},
           {"mov.u16", {5}, 5}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form;
  }
}

TEST(IntegerSemantics, PacksOfSaturatedNumbersFollowTheManual) {
  constexpr std::uint64_t kMinus5 = 0xfffffffb, kMinus40000 = 0xffff63c0;
  for (auto const& [form, operands, expected] :
       std::initializer_list<Row>{{"cvt.pack.sat.u8.s32.b32", {300, kMinus5, 0xab1234}, 0x1234ff00},
                                  {"cvt.pack.sat.s8.s32.b32", {kMinus40000, 5, 0}, 0x8005},
                                  {"cvt.pack.sat.s8.s32.b32", {kMinus5, 200, 1}, 0x1fb7f},
                                  {"cvt.pack.sat.u16.s32", {70000, kMinus5}, 0xffff0000},
                                  {"cvt.pack.sat.s16.s32", {kMinus40000, 40000}, 0x80007fff}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form;
  }
}

TEST(ComparisonSemantics, ComparesIntegersAsSignedOrUnsigned) {
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"setp.lt.s32", {k32, 0}, 1}, {"setp.lt.u32", {k32, 0}, 0}, {"setp.lo.u32", {0, k32}, 1},
           {"setp.ge.s32", {0, 0}, 1}, {"setp.gt.s32", {0, k32}, 1}, {"setp.gt.s32", {4, 4}, 0},
           {"setp.lt.u64", {1, k64}, 1}, {"setp.lt.u64", {k64, 1}, 0}, {"setp.eq.s64", {k64, k64}, 1}, {"setp.eq.s64", {1, 2}, 0},
           {"selp.b64", {k64, 2, 1}, k64}, {"selp.b64", {k64, 2, 0}, 2}, {"setp.gt.u32", {k32, 1}, 1}, {"setp.le.s64", {k64, 0}, 1},
           {"setp.ne.s64", {1, 1}, 0}, {"setp.eq.s32", {4, 4}, 1}, {"setp.ne.s32", {4, 4}, 0},
           {"setp.ge.u32", {0, k32}, 0}, {"setp.hs.u64", {k64, 1}, 1}, {"setp.eq.b32", {1, 1}, 1},
           {"setp.gt.s16", {0xffff, 0}, 0}, {"setp.lt.and.s32", {0, 1, 1}, 1}, {"setp.lt.and.s32", {0, 1, 0}, 0},
           {"setp.lt.or.s32", {1, 0, 1}, 1}, {"setp.lt.xor.s32", {0, 1, 1}, 0},
           {"set.lt.u32.s32", {k32, 0}, k32}, {"set.lt.f32.s32", {k32, 0}, 0x3f800000}, {"set.gt.and.u32.u32", {2, 1, 0}, 0},
           {"selp.b32", {1, 2, 1}, 1}, {"selp.b32", {1, 2, 0}, 2}, {"selp.f64", {k64, 2, 1}, k64},
           {"selp.b16", {1, 2, 0}, 2}, {"slct.u32.s32", {1, 2, k32}, 2}, {"slct.u32.s32", {1, 2, 0}, 1},
           {"slct.b64.f32", {1, 2, 0x80000000}, 1}, {"slct.b64.f32", {1, 2, 0x7fffffff}, 2}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form;
  }
  Values second;
  EXPECT_EQ(apply_form("setp.lt.s32", {{1, 2}}, &second)[0], 1u);
  EXPECT_EQ(second[0], 0u);
}

TEST(IntegerSemantics, SumsPassOnTheirCarry) {
  TestDevice device(1);
  device.load(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %p; "
      ".reg .b32 %r<9>; ld.param.u64 %p, [p];"
      "add.cc.u32 %r1, 0xffffffff, 1; addc.cc.u32 %r2, 0xffffffff, 0; addc.u32 %r3, 5, 0; sub.cc.u32 %r4, 0, 1; "
      "subc.cc.u32 %r5, 0, 0; subc.u32 %r6, 5, 0;"
      "st.global.v2.u32 [%p], {%r1,%r2}; st.global.v4.u32 [%p+16], {%r3,%r4,%r5,%r6}; ret; }");
  auto* const out = device.allocate<std::uint32_t>(8);
  EXPECT_EQ(text_of(device.run("k", {{1}, {32}, 0}, out)), "");
  EXPECT_EQ((std::vector<std::uint32_t>(out, out + 8)),
            (std::vector<std::uint32_t>{0, 0, 0, 0, 6, 0xffffffff, 0xffffffff, 4}));
}

// nvcc divides __int128 with it: the carry after a subtraction is added to a digit of the quotient.
TEST(IntegerSemantics, SubtractionsCarryWhereTheyDoNotBorrow) {
  TestDevice device(1);
  device.load(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %p, %d; "
      ".reg .b32 %r<13>; ld.param.u64 %p, [p];"
      "sub.cc.u32 %r1, 5, 3; addc.u32 %r1, 10, 0; sub.cc.u32 %r2, 3, 5; addc.u32 %r2, 10, 0;"
      "sub.cc.u32 %r3, 7, 7; subc.cc.u32 %r4, 2, 2; addc.u32 %r3, 10, 0;"
      "sub.cc.u32 %r4, 0, 1; subc.cc.u32 %r5, 2, 2; addc.u32 %r4, 10, 0;"
      "add.cc.u32 %r6, 0xffffffff, 1; subc.u32 %r6, 10, 3; add.cc.u32 %r7, 1, 1; subc.u32 %r7, 10, 3;"
      "sub.cc.u64 %d, 1, 2; addc.u32 %r8, 10, 0;"
      "st.global.v4.u32 [%p], {%r1,%r2,%r3,%r4}; st.global.v4.u32 [%p+16], {%r5,%r6,%r7,%r8}; ret; }");
  auto* const out = device.allocate<std::uint32_t>(8);
  EXPECT_EQ(text_of(device.run("k", {{1}, {32}, 0}, out)), "");
  EXPECT_EQ((std::vector<std::uint32_t>(out, out + 8)),
            (std::vector<std::uint32_t>{11, 10, 11, 10, 0xffffffff, 7, 6, 10}));
}

// Tests full warps, which run code that the compiler vectorizes. GCC 12 multiplied signed 16-bit integers as unsigned
// integers.
TEST(IntegerSemantics, UpperHalvesOfProductsAreRightInFullWarps) {
  std::minstd_rand random(41);
  std::vector<Values> cases;
  for (int i = 0; i < 640; ++i) cases.push_back({random() & 0xffff, random() & 0xffff, random() & 0xffff});
  auto pairs = cases;
  for (auto& one : pairs) one.pop_back();
  auto const sign = [](std::uint64_t x) { return static_cast<std::int64_t>(x) - (x < 0x8000 ? 0 : 0x10000); };
  auto const signed_products = apply_form("mul.hi.s16", pairs), sums = apply_form("mad.hi.s16", cases);
  auto const products = apply_form("mul.hi.u16", pairs);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::int64_t const high = (sign(cases[i][0]) * sign(cases[i][1])) >> 16;
    ASSERT_EQ(signed_products[i], static_cast<std::uint64_t>(high) & 0xffff) << i;
    ASSERT_EQ(sums[i], (static_cast<std::uint64_t>(high) + cases[i][2]) & 0xffff) << i;
    ASSERT_EQ(products[i], cases[i][0] * cases[i][1] >> 16) << i;
  }
}

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// Computes a * b + c in twice the width of T by mad.lo.cc and madc.hi.cc, as programs do. Then computes the upper half
// of a * b plus c with its carry, and the sum that madc.lo.cc makes of a * b, d and that carry.
template <class T>
void check_products_with_carry(std::string const& type) {
  constexpr unsigned kBits = sizeof(T) * 8;
  std::string const b = kBits == 32 ? "b32" : "b64";
  TestDevice device(1);
  device.load(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .u32 %t; "
      ".reg ." + b + " %a, %b, %c, %d, %r<9>; ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 64, %p; "
      "ld.global." + b + " %a, [%p]; ld.global." + b + " %b, [%p+8]; ld.global." + b + " %c, [%p+16];"
      "ld.global." + b + " %d, [%p+24];"
      "mad.lo.cc." + type + " %r1, %a, %b, %c; madc.hi.cc." + type + " %r2, %a, %b, %d; addc." + type + " %r3, 0, 0;"
      "mad.hi.cc." + type + " %r4, %a, %b, %c; madc.lo.cc." + type + " %r5, %a, %b, %d; madc.hi." + type +
      " %r6, 0, 0, 0; st.global." + b + " [%p], %r1; st.global." + b + " [%p+8], %r2; st.global." + b +
      " [%p+16], %r3; st.global." + b + " [%p+24], %r4; st.global." + b + " [%p+32], %r5; st.global." + b +
      " [%p+40], %r6; ret; }");
  using Bits = std::make_unsigned_t<T>;
  std::mt19937_64 random(23);
  std::vector<std::uint64_t> places;
  for (int i = 0; i < 256 * 8; ++i) {
    std::uint64_t const edges[] = {0, 1, k64, k64 << (kBits - 1), k64 >> (65 - kBits)};
    places.push_back(static_cast<Bits>(random() % 4 == 0 ? edges[random() % 5] : random() >> (random() % 60)));
  }
  auto* const out = device.upload(places);
  EXPECT_EQ(text_of(device.run("k", {{1}, {256}, 0}, out)), "");
  for (std::size_t i = 0; i < places.size(); i += 8) {
    auto const x = static_cast<T>(places[i]), y = static_cast<T>(places[i + 1]);
    Bits const c = static_cast<Bits>(places[i + 2]), d = static_cast<Bits>(places[i + 3]);
    auto const product = static_cast<UnsignedWide>(Wide{x} * Wide{y});
    auto const low = static_cast<Bits>(product), high = static_cast<Bits>(product >> kBits);
    std::vector<std::uint64_t> expected;
    UnsignedWide sum = 0;
    auto const add = [&](Bits a, Bits value) {  // adds the carry of the preceding sum, too
      sum = UnsignedWide{a} + value + static_cast<Bits>(sum >> kBits);
      expected.push_back(static_cast<Bits>(sum));
    };
    add(low, c);
    add(high, d);
    add(0, 0);
    sum = 0;
    add(high, c);
    add(low, d);
    add(0, 0);
    for (std::size_t k = 0; k < 6; ++k)
      ASSERT_EQ(static_cast<Bits>(out[i + k]), expected[k]) << type << ' ' << i / 8 << ' ' << k;
  }
}

// Returns the n-th part of a word, extended by a type.
int part_of(std::uint64_t word, int parts, int n, std::string_view type) {
  switch (parts) {
    case 4: return type == "s32" ? static_cast<std::int8_t>(word >> (8 * n)) : static_cast<std::uint8_t>(word >> (8 * n));
    default:
      return type == "s32" ? static_cast<std::int16_t>(word >> (16 * n)) : static_cast<std::uint16_t>(word >> (16 * n));
  }
}

int video_result(std::string_view op, int a, int b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return std::abs(a - b);
  if (op == "vmin") return a < b ? a : b;
  if (op == "vmax") return a > b ? a : b;
  // Halves are rounded away from zero if positive, towards zero if negative.
  return static_cast<int>(std::floor((a + b) / 2.0 + (a + b >= 0 ? 0.5 : 0)));
}

std::vector<Values> video_cases() {
  std::mt19937 random(31);
  std::vector<Values> cases;
  for (int i = 0; i < 400; ++i) {
    Values one;
    for (int k = 0; k < 3; ++k) {
      std::uint64_t word = random();
      // Parts at the ends of their range.
      if (i % 2 == 0) word = (word & 0x80808080) == 0 ? word : (random() % 2 == 0 ? 0x80ff7f00 : 0x00808001) ^ (word & 0x01000100);
      one.push_back(word);
    }
    cases.push_back(one);
  }
  return cases;
}

TEST(IntegerSemantics, VideoInstructionsComputePartsOfWords) {
  auto const cases = video_cases();
  for (int const parts : {2, 4}) {
    std::int64_t const least = parts == 4 ? -128 : -32768, greatest = parts == 4 ? 127 : 32767;
    int const bits = 32 / parts;
    for (std::string const op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
      for (std::string const types : {"u32.u32.u32", "s32.s32.s32", "u32.s32.s32", "s32.u32.s32"}) {
        for (std::string const modifier : {"", ".sat", ".add"}) {
          auto const name = op + std::to_string(parts) + "." + types + modifier;
          auto const results = apply_form(name, cases);
          for (std::size_t i = 0; i < cases.size(); ++i) {
            std::uint64_t merged = 0;
            auto sum = static_cast<std::int64_t>(cases[i][2]);
            for (int n = 0; n < parts; ++n) {
              std::int64_t part = video_result(op, part_of(cases[i][0], parts, n, types.substr(4, 3)),
                                               part_of(cases[i][1], parts, n, types.substr(8)));
              sum += part;
              if (modifier == ".sat" && types[0] == 's') part = std::min(std::max(part, least), greatest);
              if (modifier == ".sat" && types[0] == 'u') part = std::min(std::max<std::int64_t>(part, 0), 2 * greatest + 1);
              merged |= (static_cast<std::uint64_t>(part) & ((1ull << bits) - 1)) << (bits * n);
            }
            std::uint64_t const expected = modifier == ".add" ? static_cast<std::uint64_t>(sum) & k32 : merged;
            ASSERT_EQ(results[i], expected) << name << std::hex << ' ' << cases[i][0] << ' ' << cases[i][1];
          }
        }
      }
    }
  }
}

TEST(IntegerSemantics, VideoInstructionsFollowTheManual) {
  for (auto const& [form, operands, expected] : std::initializer_list<Row>{
           {"vadd.u32.u32.u32", {k32, 2}, 1}, {"vadd.u32.u32.u32.sat", {k32, 2}, k32}, {"vadd.s32.u32.s32.sat", {k32, k32}, 0x7fffffff},
           {"vadd.s32.s32.s32.add", {k32, k32, 10}, 8}, {"vsub.u32.u32.u32.sat", {1, 2}, 0}, {"vsub.s32.u32.u32", {1, 2}, k32},
           {"vabsdiff.u32.s32.s32", {k32, 3}, 4}, {"vabsdiff.u32.u32.u32", {k32, 3}, k32 - 3},
           {"vabsdiff.s32.u32.u32.sat.add", {k32, 3, 1}, 0x80000000}, {"vabsdiff.u32.s32.s32.add", {k32, 3, 10}, 14},
           {"vmin.s32.s32.s32", {k32, 3}, k32}, {"vmin.u32.u32.u32", {k32, 3}, 3}, {"vmax.s32.s32.u32.sat", {1, k32}, 0x7fffffff},
           {"vset2.u32.u32.lt", {0x00010005, 0x00020005, 77}, 0x00010000}, {"vset2.s32.s32.lt", {0xffff8000, 0x00000000, 77}, 0x00010001},
           {"vset4.u32.u32.eq", {0x01020304, 0x01000300, 77}, 0x01000100}, {"vset4.u32.u32.ge.add", {0x01020304, 0x01020305, 10}, 13},
           {"vset4.s32.s32.gt", {0x7f00ff80, 0x80000000, 77}, 0x01000000}, {"vset4.u32.u32.ne", {0x01020304, 0x01000300, 77}, 0x00010001},
           {"vset4.u32.s32.le", {0x80000000, 0x80000000, 77}, 0x00010101},
           {"vadd.s32.s32.s32.min", {k32, 3, 1}, 1}, {"vadd.u32.u32.u32.min", {k32, 3, 1}, 1}, {"vadd.u32.u32.u32.max", {1, 3, k32}, k32},
           {"vsub.s32.u32.u32.max", {1, 3, k32}, k32}, {"vsub.s32.u32.u32.sat.min", {0, k32, 0x80000001}, 0x80000000},
           {"vset.u32.u32.lt", {k32, 1, 77}, 0}, {"vset.s32.s32.lt", {k32, 1, 77}, 1}, {"vset.s32.u32.lt", {k32, k32, 77}, 1},
           {"vset.u32.u32.eq.add", {5, 5, k32}, 0}, {"vset.u32.u32.ne.min", {5, 5, k32}, 0}, {"vset.u32.u32.ge.max", {5, 5, k32}, k32},
           {"vshl.u32.u32.u32.clamp", {3, 31, 77}, 0x80000000}, {"vshl.u32.u32.u32.clamp", {3, 32, 77}, 0}, {"vshl.u32.u32.u32.wrap", {3, 33, 77}, 6},
           {"vshl.u32.u32.u32.sat.clamp", {k32, 32, 77}, k32}, {"vshl.s32.s32.u32.sat.clamp", {k32 - 1, 40, 77}, 0x80000000},
           {"vshl.s32.u32.u32.sat.clamp", {1, 31, 77}, 0x7fffffff}, {"vshl.u32.u32.u32.clamp.add", {1, 4, 5}, 21},
           {"vshr.s32.s32.u32.clamp", {0x80000000, 40, 77}, k32}, {"vshr.u32.u32.u32.clamp", {0x80000000, 31, 77}, 1},
           {"vshr.s32.s32.u32.wrap", {0x80000000, 36, 77}, 0xf8000000}, {"vshr.u32.s32.u32.sat.wrap", {0x80000000, 4, 77}, 0},
           {"vshr.s32.s32.u32.wrap.max", {0x80000000, 4, 1}, 1}, {"vshr.u32.u32.u32.clamp.min", {0x80000000, 4, k32}, 0x08000000},
           {"vmad.u32.u32.u32", {k32, k32, 1}, 2}, {"vmad.u32.u32.u32.sat", {k32, 2, 0}, k32}, {"vmad.s32.s32.s32.sat", {k32, 2, 1}, k32},
           {"vmad.s32.s32.u32.sat", {0x80000000, k32, 1}, 0x80000000}, {"vmad.u32.u32.u32.shr7", {256, 256, 127}, 512},
           {"vmad.s32.s32.s32.shr7", {k32, 1, 0}, k32}, {"vmad.u32.u32.u32.shr15", {k32, k32, k32}, 0xffffffff & (0xffffffff00000000 >> 15)},
           {"vmad.u32.u32.u32.po.shr7", {10, 10, 27}, 1}, {"vmad.s32.s32.s32.po.sat", {0x7fffffff, 1, 0}, 0x7fffffff},
           // The manual's examples, and others.
           {"fns.b32", {0xaaaaaaaa, 3, 1}, 3}, {"fns.b32", {0xaaaaaaaa, 3, k32}, 3}, {"fns.b32", {0xaaaaaaaa, 2, 1}, 3},
           {"fns.b32", {0xaaaaaaaa, 2, k32}, 1}, {"fns.b32", {0xaaaaaaaa, 2, 0}, k32}, {"fns.b32", {0xaaaaaaaa, 5, 0}, 5},
           {"fns.b32", {0xaaaaaaaa, 0, 16}, 31}, {"fns.b32", {0xaaaaaaaa, 0, 17}, k32}, {"fns.b32", {k32, 31, k32 - 31}, 0},
           {"fns.b32", {k32, 31, 0x80000000}, k32}}) {
    EXPECT_EQ(apply_form(form, {operands})[0], expected) << form << std::hex << ' ' << operands[0];
  }
}

TEST(IntegerSemantics, ProductsPassOnTheirCarry) {
  for (std::string const type : {"u32", "s32", "u64", "s64"})
    checks_forms({"mad.lo.cc." + type, "mad.hi.cc." + type, "madc.lo.cc." + type, "madc.hi.cc." + type,
                  "madc.hi." + type});
  check_products_with_carry<std::uint32_t>("u32");
  check_products_with_carry<std::int32_t>("s32");
  check_products_with_carry<std::uint64_t>("u64");
  check_products_with_carry<std::int64_t>("s64");
}

// Combines a sample of the 16-bit integers with integers at the ends of ranges and with random integers.
TEST(IntegerSemantics, PairsOf16BitsAreTwoIntegers) {
  std::vector<Values> cases;
  std::minstd_rand random(9);
  for (std::uint64_t a = 0; a < 65536; a += 5)
    for (std::uint64_t const b : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0xffffu, static_cast<unsigned>(random() & 0xffff)})
      cases.push_back({a << 16 | b, b << 16 | (random() & 0xffff)});
  auto const check = [&](std::string const& form, auto const& compute) {
    auto const results = apply_form(form, cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::uint64_t const a = cases[i][0], b = cases[i][1];
      auto const part = [&](unsigned shift) {
        return static_cast<std::uint64_t>(compute(static_cast<int>(a >> shift & 0xffff), static_cast<int>(b >> shift & 0xffff)) &
                                          0xffff);
      };
      ASSERT_EQ(results[i], part(16) << 16 | part(0)) << form << std::hex << ' ' << a << ' ' << b;
    }
  };
  auto const sign = [](int x) { return x < 0x8000 ? x : x - 0x10000; };
  for (std::string const type : {"u16x2", "s16x2"}) {
    bool const is_signed = type == "s16x2";
    auto const value = [=](int x) { return is_signed ? sign(x) : x; };
    check("add." + type, [](int a, int b) { return a + b; });
    check("min." + type, [=](int a, int b) { return std::min(value(a), value(b)); });
    check("max." + type, [=](int a, int b) { return std::max(value(a), value(b)); });
  }
  check("min.relu.s16x2", [=](int a, int b) { return std::max(std::min(sign(a), sign(b)), 0); });
  check("max.relu.s16x2", [=](int a, int b) { return std::max({sign(a), sign(b), 0}); });
  EXPECT_EQ(apply_form("max.relu.s32", {{k32, k32 - 4}, {k32, 7}, {9, 7}}), (Values{0, 7, 9}));
  EXPECT_EQ(apply_form("min.relu.s32", {{k32, 7}, {9, 7}}), (Values{0, 7}));
}

}  // namespace
}  // namespace cuda_cpu
