// mma against sums of products over the matrices that the PTX manual lays out in the registers of a warp.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "cuda_cpu/executor/steps/matrix_test_support.h"

namespace cuda_cpu { namespace {

// A function that returns the row or column of element i of a fragment, from the manual; g = lane / 4, t = lane % 4.
using Place = std::function<unsigned(unsigned g, unsigned t, unsigned i)>;
struct Layout {
  unsigned m, k;
  Place a_row, a_column, b_row;  // the column of B is g
};

Layout layout_of(std::string const& shape, unsigned bits) {
  Place const g = [](unsigned group, unsigned, unsigned) { return group; };
  auto const rows = [](auto is_upper) {  // is_upper(i): element i is in the upper half of A
    return [is_upper](unsigned group, unsigned, unsigned i) { return is_upper(i) ? group : group + 8; };
  };
  auto const columns = [](unsigned times, unsigned mask, unsigned from, unsigned plus) {
    return [=](unsigned, unsigned t, unsigned i) { return t * times + (i & mask) + (i < from ? 0 : plus); };
  };
  if (bits == 16 && shape == "m16n8k8")
    return {16, 8, rows([](unsigned i) { return i < 2; }), columns(2, 1, 99, 0), columns(2, 1, 99, 0)};
  if (bits == 16) {
    return {16, 16, rows([](unsigned i) { return i < 2 || (i >= 4 && i < 6); }), columns(2, 1, 4, 8),
            columns(2, 1, 2, 8)};
  }
  if (bits == 32 && shape == "m16n8k4")
    return {16, 4, rows([](unsigned i) { return i == 0; }), columns(1, 0, 99, 0), columns(1, 0, 99, 0)};
  if (bits == 32)
    return {16, 8, rows([](unsigned i) { return i == 0 || i == 2; }), columns(1, 0, 2, 4), columns(1, 0, 1, 4)};
  if (bits == 8 && shape == "m8n8k16") return {8, 16, g, columns(4, 3, 99, 0), columns(4, 3, 99, 0)};
  if (bits == 8 && shape == "m16n8k16")
    return {16, 16, rows([](unsigned i) { return i < 4; }), columns(4, 3, 99, 0), columns(4, 3, 99, 0)};
  if (bits == 8) {
    return {16, 32, rows([](unsigned i) { return i < 4 || (i >= 8 && i < 12); }), columns(4, 3, 8, 16),
            columns(4, 3, 4, 16)};
  }
  if (bits == 4 && shape == "m8n8k32") return {8, 32, g, columns(8, 7, 99, 0), columns(8, 7, 99, 0)};
  if (bits == 4 && shape == "m16n8k32")
    return {16, 32, rows([](unsigned i) { return i < 8; }), columns(8, 7, 99, 0), columns(8, 7, 99, 0)};
  if (bits == 4) {
    return {16, 64, rows([](unsigned i) { return i < 8 || (i >= 16 && i < 24); }), columns(8, 7, 16, 32),
            columns(8, 7, 8, 32)};
  }
  if (bits == 1 && shape == "m8n8k128") return {8, 128, g, columns(32, 31, 999, 0), columns(32, 31, 999, 0)};
  if (bits == 1 && shape == "m16n8k128")
    return {16, 128, rows([](unsigned i) { return i < 32; }), columns(32, 31, 999, 0), columns(32, 31, 999, 0)};
  if (bits == 1) {
    return {16, 256, rows([](unsigned i) { return i < 32 || (i >= 64 && i < 96); }), columns(32, 31, 64, 128),
            columns(32, 31, 32, 128)};
  }
  Place const t = [](unsigned, unsigned thread, unsigned) { return thread; };
  if (shape == "m8n8k4") return {8, 4, g, t, t};
  auto const even = rows([](unsigned i) { return i % 2 == 0; });
  if (shape == "m16n8k4") return {16, 4, even, t, t};
  if (shape == "m16n8k8") return {16, 8, even, columns(1, 0, 2, 4), columns(1, 0, 1, 4)};
  return {16, 16, even,
          [](unsigned, unsigned thread, unsigned i) { return i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread; },
          [](unsigned, unsigned thread, unsigned i) { return i * 4 + thread; }};
}

// The registers of an operand: [register][lane].
using Registers = std::vector<std::array<std::uint64_t, 32>>;

// An mma with its operands in registers and as matrices.
struct Multiplication {
  Multiplication(std::string const& form, std::uint64_t seed) : name(form), words(words_of(form)), random(seed) {
    std::vector<std::string> types;
    for (auto const& word : words) {
      if (word.find('n') != word.npos && word[0] == 'm' && word.size() > 3) shape = word;
      if (bits_of_type(word) != 0) types.push_back(word);
    }
    d_type = types[0];
    a_type = types[1];
    b_type = types[2];
    c_type = types[3];
    layout = layout_of(shape, bits_of_type(a_type));
  }

  static std::vector<std::string> words_of(std::string const& form) {
    std::vector<std::string> all;
    std::stringstream text(form);
    for (std::string word; std::getline(text, word, '.');) all.push_back(word);
    return all;
  }

  // Fills the matrices with the bits of elements.
  void fill(std::function<std::uint64_t(std::string const& type)> const& make) {
    for (unsigned i = 0; i < layout.m * layout.k; ++i) a.push_back(make(a_type));
    for (unsigned i = 0; i < layout.k * 8; ++i) b.push_back(make(b_type));
    for (unsigned i = 0; i < layout.m * 8; ++i) c.push_back(make(c_type));
  }

  // Puts element i of a fragment into its register.
  static void put(Registers& registers, unsigned lane, unsigned i, unsigned bits, std::uint64_t value) {
    unsigned const each = bits == 64 ? 1 : 32 / bits;
    if (registers.size() <= i / each) registers.resize(i / each + 1);
    registers[i / each][lane] |= value << (i % each * bits);
  }

  std::vector<std::uint64_t> run() {
    Registers in_a, in_b, in_c;
    unsigned const a_bits = bits_of_type(a_type), c_bits = bits_of_type(c_type), d_bits = bits_of_type(d_type);
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned const g = lane / 4, t = lane % 4;
      for (unsigned i = 0; i < layout.m * layout.k / 32; ++i)
        put(in_a, lane, i, a_bits, a[layout.a_row(g, t, i) * layout.k + layout.a_column(g, t, i)]);
      for (unsigned i = 0; i < layout.k * 8 / 32; ++i) put(in_b, lane, i, a_bits, b[layout.b_row(g, t, i) * 8 + g]);
      for (unsigned i = 0; i < layout.m * 8 / 32; ++i)
        put(in_c, lane, i, c_bits, c[(i < 2 ? g : g + 8) * 8 + t * 2 + (i & 1)]);
    }
    unsigned const each = d_bits == 16 ? 2 : 1;
    auto const out = run_registers(name, {in_a, in_b, in_c}, layout.m * 8 / 32 / each, a_bits == 64);
    std::vector<std::uint64_t> d(layout.m * 8);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < layout.m * 8 / 32; ++i) {
        unsigned const row = (i < 2 ? 0 : 8) + lane / 4, column = lane % 4 * 2 + (i & 1);
        std::uint64_t const value = out[i / each][lane] >> (i % each * d_bits);
        d[row * 8 + column] = d_bits == 64 ? value : value & ((std::uint64_t{1} << d_bits) - 1);
      }
    }
    return d;
  }

  // Runs the instruction with one thread for each lane.
  static Registers run_registers(std::string const& name, std::vector<Registers> const& sources, std::size_t results,
                                 bool wide) {
    checks_forms({name});
    std::string const type = wide ? ".b64" : ".b32";
    std::string text, operands;
    std::vector<std::uint64_t> flat;
    auto const list = [](std::string const& prefix, std::size_t count) {
      std::string braces = "{";
      for (std::size_t i = 0; i < count; ++i) braces += (i > 0 ? ", " : "") + prefix + std::to_string(i);
      return braces + "}";
    };
    std::size_t at = 0;
    for (std::size_t operand = 0; operand < sources.size(); ++operand) {
      std::string const prefix = "%s" + std::to_string(operand) + "_";
      operands += ", " + list(prefix, sources[operand].size());
      text += ".reg " + type + " " + prefix + "<8>;\n";
      for (std::size_t i = 0; i < sources[operand].size(); ++i) {
        flat.insert(flat.end(), sources[operand][i].begin(), sources[operand][i].end());
        text += "ld.global" + type + " " + prefix + std::to_string(i) + ", [%in+" + std::to_string(256 * at++) + "];\n";
      }
    }
    text += name + " " + list("%d", results) + operands + ";\n";
    for (std::size_t i = 0; i < results; ++i)
      text += "st.global" + type + " [%out+" + std::to_string(256 * i) + "], %d" + std::to_string(i) + ";\n";
    static TestDevice* const device = new TestDevice(1);
    device->load(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {\n"
        ".reg .b64 %in, %out; .reg .b32 %t; .reg " +
        type +
        " %d<8>; ld.param.u64 %in, [a]; "
        "ld.param.u64 %out, [b]; mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 8, %in; "
        "mad.wide.u32 %out, %t, 8, %out;\n" +
        text + "ret;\n}\n");
    auto* const in = device->upload(flat);
    auto* const out = device->allocate<std::uint64_t>(32 * results);
    EXPECT_EQ(text_of(device->run("k", {{1}, {32}, 0}, in, out)), "") << name;
    Registers all(results);
    for (std::size_t i = 0; i < 32 * results; ++i) all[i / 32][i % 32] = out[i];
    device->memory.free(reinterpret_cast<std::uintptr_t>(in));
    device->memory.free(reinterpret_cast<std::uintptr_t>(out));
    return all;
  }

  std::string name;
  std::vector<std::string> words;
  std::mt19937_64 random;
  std::string shape, a_type, b_type, c_type, d_type;
  Layout layout;
  std::vector<std::uint64_t> a, b, c;  // stored by row
};

std::vector<std::string> forms_with(std::string_view part) {
  std::vector<std::string> names;
  for (auto const* const form : ptx::all_forms())
    if (form->opcode() == "mma" && form->name.find(part) != std::string::npos) names.push_back(form->name);
  return names;
}

TEST(MatrixSemantics, MultipliesSmallIntegersExactlyInEveryFloatingPointType) {
  auto names = forms_with(".f16.f16.");
  for (auto const* const part : {"bf16.bf16", "tf32.tf32", "f64.f64", "e4m3", "e5m2"})
    std::ranges::copy(forms_with(part), std::back_inserter(names));
  EXPECT_GE(names.size(), 14u);
  for (auto const& name : names) {
    Multiplication test(name, 1);
    auto const integer = [&] { return static_cast<int>(test.random() % 7) - 3; };
    test.fill([&](std::string const& type) { return encode(type, integer()); });
    auto const d = test.run();
    for (unsigned row = 0; row < test.layout.m; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        double sum = decode(test.c_type, test.c[row * 8 + column]);
        for (unsigned k = 0; k < test.layout.k; ++k)
          sum += decode(test.a_type, test.a[row * test.layout.k + k]) * decode(test.b_type, test.b[k * 8 + column]);
        ASSERT_EQ(decode(test.d_type, d[row * 8 + column]), sum) << name << ' ' << row << ' ' << column;
      }
    }
  }
}

TEST(MatrixSemantics, RoundsTheSumOfExactProductsOnce) {
  std::vector<std::string> names;
  for (auto const* const part : {".f16.f16.", "bf16.bf16", "tf32.tf32", "e4m3.e5m2", "e5m2.e5m2"})
    std::ranges::copy(forms_with(part), std::back_inserter(names));
  for (auto const& name : names) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Multiplication test(name, seed);
      // All signs and fractions, and magnitudes that differ by up to 2^12.
      test.fill([&](std::string const& type) {
        double const value =
            std::ldexp(static_cast<double>(test.random() % 2001) - 1000, -static_cast<int>(test.random() % 12));
        return encode(type, value / 100);
      });
      auto const d = test.run();
      for (unsigned row = 0; row < test.layout.m; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
          long double sum = decode(test.c_type, test.c[row * 8 + column]), magnitude = std::fabs(sum);
          for (unsigned k = 0; k < test.layout.k; ++k) {
            long double const product = static_cast<long double>(decode(test.a_type, test.a[row * test.layout.k + k])) *
                                        decode(test.b_type, test.b[k * 8 + column]);
            sum += product;
            magnitude += std::fabs(product);
          }
          auto const got = static_cast<long double>(decode(test.d_type, d[row * 8 + column]));
          long double const ulp = test.d_type == "f16" ? 0x1p-11L : 0x1p-24L;
          ASSERT_LE(std::fabs(got - sum), std::fabs(sum) * ulp + magnitude * 0x1p-48L)
              << name << ' ' << row << ' ' << column;
        }
      }
    }
  }
}

// Additions are in the order of k, each with one rounding.
TEST(MatrixSemantics, SumsOfDoublesAreFusedInTheOrderOfK) {
  for (auto const& name : forms_with("f64.f64")) {
    Multiplication test(name, 3);
    test.fill([&](std::string const& type) {
      return encode(
          type, std::ldexp(static_cast<double>(test.random() % 4001) - 2000, static_cast<int>(test.random() % 40)) / 3);
    });
    auto const d = test.run();
    for (unsigned row = 0; row < test.layout.m; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        double sum = std::bit_cast<double>(test.c[row * 8 + column]);
        for (unsigned k = 0; k < test.layout.k; ++k) {
          sum = std::fma(std::bit_cast<double>(test.a[row * test.layout.k + k]),
                         std::bit_cast<double>(test.b[k * 8 + column]), sum);
        }
        ASSERT_EQ(d[row * 8 + column], std::bit_cast<std::uint64_t>(sum)) << name;
      }
    }
  }
}

TEST(MatrixSemantics, MultipliesIntegersExactlyAndWrapsOrSaturates) {
  auto names = forms_with(".s32.s");
  std::ranges::copy(forms_with(".s32.u"), std::back_inserter(names));
  EXPECT_EQ(names.size(), 48u);
  for (auto const& name : names) {
    Multiplication test(name, 5);
    test.fill([&](std::string const& type) -> std::uint64_t {
      if (type != "s32") return test.random() & ((1u << bits_of_type(type)) - 1);
      std::uint32_t const near_the_ends[] = {0x7fffffff, 0x80000000, 0, 0x7fffff00, 0x80000100};
      return test.random() % 2 == 0 ? near_the_ends[test.random() % 5] : test.random() & 0xffffffff;
    });
    auto const d = test.run();
    for (unsigned row = 0; row < test.layout.m; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::int64_t sum = static_cast<std::int32_t>(test.c[row * 8 + column]);
        for (unsigned k = 0; k < test.layout.k; ++k) {
          sum += static_cast<std::int64_t>(decode(test.a_type, test.a[row * test.layout.k + k])) *
                 static_cast<std::int64_t>(decode(test.b_type, test.b[k * 8 + column]));
        }
        if (name.find("satfinite") != name.npos)
          sum = std::min<std::int64_t>(std::max<std::int64_t>(sum, INT32_MIN), INT32_MAX);
        ASSERT_EQ(static_cast<std::uint32_t>(d[row * 8 + column]), static_cast<std::uint32_t>(sum)) << name;
      }
    }
  }
}

TEST(MatrixSemantics, CountsEqualAndCommonBits) {
  auto const names = forms_with(".b1.b1.");
  EXPECT_EQ(names.size(), 6u);
  for (auto const& name : names) {
    Multiplication test(name, 6);
    test.fill([&](std::string const& type) { return test.random() & (type == "b1" ? 1 : 0xffff); });
    auto const d = test.run();
    for (unsigned row = 0; row < test.layout.m; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        std::uint64_t sum = test.c[row * 8 + column];
        for (unsigned k = 0; k < test.layout.k; ++k) {
          std::uint64_t const x = test.a[row * test.layout.k + k], y = test.b[k * 8 + column];
          sum += name.find("xor") != name.npos ? x ^ y : x & y;
        }
        ASSERT_EQ(d[row * 8 + column], sum) << name;
      }
    }
  }
}

TEST(MatrixSemantics, InfinitiesAndNansAreThoseOfTheirSums) {
  Multiplication test("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 1);
  test.fill([](std::string const&) { return 0; });
  test.a[0 * 16] = 0x7c00;  // row 0: infinity * 0
  test.a[1 * 16] = 0x7bff;  // row 1: 65504 * 65504, which a half could not hold
  test.b[0 * 8 + 1] = 0x7bff;
  test.c[2 * 8 + 2] = 0xff800000;
  test.c[3 * 8 + 3] = 0x80000000;
  auto const d = test.run();
  EXPECT_EQ(d[0], 0x7fffffffu);  // the canonical NaN
  EXPECT_EQ(d[1], 0x7f800000u);
  EXPECT_EQ(d[8 + 1], std::bit_cast<std::uint32_t>(65504.f * 65504.f));
  EXPECT_EQ(d[2 * 8 + 2], 0xff800000u);
  EXPECT_EQ(d[3 * 8 + 3], 0u);  // -0 plus the products, which are +0
  Multiplication half("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 1);
  half.fill([](std::string const&) { return 0; });
  half.a[0] = half.b[0] = 0x7bff;
  half.c[9] = 0x0001;  // the smallest denormal
  auto const halves = half.run();
  EXPECT_EQ(halves[0], 0x7c00u);
  EXPECT_EQ(halves[9], 1u);
}

TEST(MatrixSemantics, IgnoresTheLowBitsOfTf32) {
  Multiplication test("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 1);
  test.fill([](std::string const& type) { return type == "tf32" ? 0x3f801fffu : 0; });
  for (auto const bits : test.run()) ASSERT_EQ(bits, std::bit_cast<std::uint32_t>(8.f));
}

// Finds the result independently: the value between two neighbours with 10 bits of fraction.
TEST(MatrixSemantics, RoundsToTf32) {
  std::vector<std::vector<std::uint64_t>> cases;
  std::minstd_rand random(1);
  for (std::uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu, 0x2000u, 0x3000u, 0x3001u}) {
    for (std::uint32_t high : {0x3f800000u, 0x3f804000u, 0xbf800000u, 0x7f7fe000u, 0u, 0x80000000u, 0x00002000u})
      cases.push_back({high + low});
  }
  for (int i = 0; i < 1000; ++i) cases.push_back({random() * 2u});
  auto const expected = [](std::uint64_t bits, std::string const& mode) -> std::uint32_t {
    auto const value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) return 0x7fffffff;
    if (std::isinf(value)) return mode == "rn.relu" && value < 0 ? 0 : static_cast<std::uint32_t>(bits);
    if (mode.ends_with("relu") && std::signbit(value)) return 0;
    int exponent = 0;
    std::frexp(value, &exponent);
    double const unit = std::ldexp(1, std::max(exponent - 11, -136));  // unit of the last of the 11 bits
    double const in_units = static_cast<double>(value) / unit;
    double const rounded = mode.starts_with("rz")    ? std::trunc(in_units)
                           : mode.starts_with("rna") ? std::round(in_units)
                                                     : std::nearbyint(in_units);
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::copysign(rounded * unit, static_cast<double>(value))));
  };
  for (std::string const mode : {"rna", "rn", "rz", "rn.relu", "rz.relu"}) {
    auto const results = apply_form("cvt." + mode + ".tf32.f32", cases);
    for (std::size_t i = 0; i < cases.size(); ++i)
      ASSERT_EQ(results[i], expected(cases[i][0], mode)) << mode << ' ' << std::hex << cases[i][0];
  }
}

}}  // namespace cuda_cpu
