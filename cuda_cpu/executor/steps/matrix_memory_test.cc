// ldmatrix, stmatrix, movmatrix and wmma: matrices in memory against the registers that the PTX manual specifies.
#include <algorithm>
#include <array>
#include <random>

#include "cuda_cpu/executor/steps/matrix_test_support.h"

namespace cuda_cpu { namespace {

constexpr char const* kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

// Returns a kernel of one warp that copies 1024 halves from %in to shared memory, `tile`, and back. %r is the lane,
// %row the address of row `lane` of 8 halves, %out the place of the lane in the results, of 4 words each.
std::string kernel_of(std::string const& body) {
  return std::string(kHeader) +
         ".visible .entry k(.param .u64 a, .param .u64 b) {\n.reg .b64 %in, %mine, %out, %w, %row64; "
         ".reg .b32 %r, %i, %row, %x, %d<4>, %s<4>; .reg .pred %p, %q; .shared .align 128 .b8 tile[2048];\n"
         "ld.param.u64 %in, [a]; ld.param.u64 %out, [b]; mov.u32 %r, %tid.x; mad.wide.u32 %mine, %r, 64, %in; "
         "mad.wide.u32 %out, %r, 16, %out; mov.u32 %row, tile; mad.lo.u32 %i, %r, 64, %row;\n"
         "ld.global.b64 %w, [%mine]; st.shared.b64 [%i], %w; ld.global.b64 %w, [%mine+8]; st.shared.b64 [%i+8], %w;"
         "ld.global.b64 %w, [%mine+16]; st.shared.b64 [%i+16], %w; ld.global.b64 %w, [%mine+24]; "
         "st.shared.b64 [%i+24], %w; bar.warp.sync -1; mad.lo.u32 %row, %r, 16, %row;\n" +
         body +
         "\nbar.warp.sync -1; ld.shared.b64 %w, [%i]; st.global.b64 [%mine], %w; ld.shared.b64 %w, [%i+8]; "
         "st.global.b64 [%mine+8], %w; ld.shared.b64 %w, [%i+16]; st.global.b64 [%mine+16], %w; "
         "ld.shared.b64 %w, [%i+24]; st.global.b64 [%mine+24], %w;\n"
         "st.global.v4.b32 [%out], {%d0, %d1, %d2, %d3};\nret;\n}\n";
}

class MatrixMemory : public testing::Test {
 protected:
  // Returns a half of the 32 rows of 8 halves that the lanes name: the first 32 bytes of each 64 hold two rows.
  std::uint16_t& half(unsigned row, unsigned column) { return memory[row / 2 * 32 * 2 / 2 + row % 2 * 8 + column]; }
  void run(std::string const& body) {
    device.load(kernel_of(body));
    auto* const in = device.upload(memory);
    auto* const out = device.allocate<std::uint32_t>(32 * 4);
    EXPECT_EQ(text_of(device.run("k", {{1}, {32}, 0}, in, out)), "") << body;
    memory.assign(in, in + memory.size());
    results.assign(out, out + 32 * 4);
  }

  TestDevice device{1};
  std::vector<std::uint16_t> memory = std::vector<std::uint16_t>(1024);
  std::vector<std::uint32_t> results;
};

// Lane 8 * i + r names row r of matrix i.
constexpr char const* kRowOfLane =
    "shr.u32 %x, %r, 1; shl.b32 %x, %x, 6; and.b32 %row, %r, 1; "
    "mad.lo.u32 %x, %row, 16, %x; mov.u32 %row, tile; add.u32 %row, %row, %x;\n";

std::string braces(char const* prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

TEST_F(MatrixMemory, LdmatrixGivesEachLaneTwoElementsOfARow) {
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned column = 0; column < 8; ++column) half(row, column) = static_cast<std::uint16_t>(row * 256 + column);
  auto const before = memory;
  for (std::string const space : {".shared", ".shared::cta", ""}) {
    for (unsigned const count : {1u, 2u, 4u}) {
      for (bool const transposed : {false, true}) {
        std::string const form =
            "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + space + ".b16";
        checks_forms({form});
        std::string const generic = "cvt.u64.u32 %row64, %row; cvta.shared.u64 %row64, %row64;";
        run(kRowOfLane + generic + form + " " + braces("%d", count) + ", [" + (space.empty() ? "%row64" : "%row") +
            "];");
        EXPECT_EQ(memory, before);
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned i = 0; i < 4; ++i) {
            unsigned const row = 8 * i + lane / 4, column = lane % 4 * 2;
            unsigned const straight = (row * 256 + column + 1) << 16 | (row * 256 + column);
            unsigned const turned = ((8 * i + column + 1) * 256 + lane / 4) << 16 | ((8 * i + column) * 256 + lane / 4);
            EXPECT_EQ(results[4 * lane + i], i < count ? (transposed ? turned : straight) : 0) << form << ' ' << lane;
          }
        }
      }
    }
  }
}

TEST_F(MatrixMemory, LdmatrixMayOverwriteItsAddress) {
  half(1, 0) = 77;
  run(std::string(kRowOfLane) +
      "mov.u32 %d0, %row; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [%d0];");
  EXPECT_EQ(results[4 * 4], 77u);
}

TEST_F(MatrixMemory, StmatrixIsTheInverseOfLdmatrix) {
  for (std::string const space : {".shared", ".shared::cta", ""}) {
    for (unsigned const count : {1u, 2u, 4u}) {
      for (bool const transposed : {false, true}) {
        std::ranges::fill(memory, 0xffff);
        std::string const form =
            "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + space + ".b16";
        checks_forms({form});
        // Register i of lane l holds i * 4096 + 2 * l and the next number.
        run(std::string(kRowOfLane) +
            "cvt.u64.u32 %row64, %row; cvta.shared.u64 %row64, %row64;"
            "mad.lo.u32 %s0, %r, 0x20002, 0x00010000; add.u32 %s1, %s0, 0x10001000; add.u32 %s2, %s1, 0x10001000; "
            "add.u32 %s3, %s2, 0x10001000;" +
            form + " [" + (space.empty() ? "%row64" : "%row") + "], " + braces("%s", count) + ";");
        for (unsigned row = 0; row < 32; ++row) {
          for (unsigned column = 0; column < 8; ++column) {
            unsigned const major = transposed ? column : row % 8, minor = transposed ? row % 8 : column;
            unsigned const expected = row / 8 * 4096 + major * 8 + minor;
            EXPECT_EQ(half(row, column), row / 8 < count ? expected : 0xffffu) << form << ' ' << row << ' ' << column;
          }
        }
      }
    }
  }
}

TEST_F(MatrixMemory, MovmatrixTransposes) {
  checks_forms({"movmatrix.sync.aligned.m8n8.trans.b16"});
  run("mad.lo.u32 %s0, %r, 0x20002, 0x00010000; movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;");
  for (unsigned lane = 0; lane < 32; ++lane) {
    // Row and column of the result; the source has 8 * row + column there.
    unsigned const row = lane / 4, column = lane % 4 * 2;
    EXPECT_EQ(results[4 * lane], (8 * (column + 1) + row) << 16 | (8 * column + row)) << lane;
  }
}

struct WmmaForm {
  explicit WmmaForm(ptx::Form const& form) {
    std::vector<std::string> types;
    for (auto const word : form.words) {
      std::string const text(word);
      if (text == "row" || text == "col")
        layouts.push_back(text);
      else if (text[0] == 'm' && text.size() > 4)
        shape = text;
      else if (bits_of_type(text) != 0)
        types.push_back(text);
    }
    d = types.front();
    c = types.back();
    a = types.size() == 2 ? "f16" : types[1];
    std::sscanf(shape.c_str(), "m%un%uk%u", &m, &n, &k);
  }
  std::vector<std::string> layouts;
  std::string shape, a, c, d;  // B has the type of A
  unsigned m = 0, n = 0, k = 0;
};

// A matrix in the memory of a kernel.
struct Matrix {
  Matrix(std::string its_type, std::string its_layout, unsigned its_rows, unsigned its_columns, bool padded)
      : type(std::move(its_type)), layout(std::move(its_layout)), rows(its_rows), columns(its_columns) {
    stride = (layout == "row" ? columns : rows) + (padded ? 16 / bytes() : 0);
    if (padded) stride = (stride * bytes() + 15) / 16 * 16 / bytes();
  }
  unsigned bytes() const { return bits_of_type(type) / 8; }
  unsigned size() const { return (layout == "row" ? rows : columns) * stride * bytes(); }
  unsigned place(unsigned row, unsigned column) const {
    return begin + (layout == "row" ? row * stride + column : column * stride + row) * bytes();
  }
  std::uint64_t get(std::vector<std::byte> const& memory, unsigned row, unsigned column) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + place(row, column), bytes());
    return bits;
  }
  std::string type, layout;
  unsigned rows, columns, stride, begin = 0;
};

// Returns the number of registers of a fragment, by the PTX manual.
unsigned registers_of(std::string const& fragment, std::string const& type, std::string const& shape) {
  if (fragment == "c") return type == "f64" ? 2 : type == "f16" ? 4 : 8;
  if (type == "f16") return 8;
  if (type == "tf32") return 4;
  if (type == "f64") return 1;
  unsigned const square = type == "bf16" ? 4 : 2;
  if (shape == "m16n16k16") return square;
  return (shape == "m32n8k16") == (fragment == "a") ? square * 2 : square / 2;
}

// Computes D = A * B + C in the memory of a kernel, in a space.
struct WmmaTest {
  WmmaTest(ptx::Form const& its_form, std::string its_space, bool its_padding)
      : name(its_form.name), form(its_form), space(std::move(its_space)), padded(its_padding) {
    matrices = {Matrix(form.a, form.layouts[0], form.m, form.k, padded),
                Matrix(form.a, form.layouts[1], form.k, form.n, padded),
                Matrix(form.c, form.layouts[0], form.m, form.n, padded),
                Matrix(form.d, form.layouts[1], form.m, form.n, padded)};
    unsigned end = 0;
    for (auto& matrix : matrices) {
      matrix.begin = end;
      end = (end + matrix.size() + 511) / 512 * 512;
    }
    memory.resize(end);
    std::minstd_rand random(7);
    for (unsigned i = 0; i < 3; ++i) {
      for (unsigned row = 0; row < matrices[i].rows; ++row) {
        for (unsigned column = 0; column < matrices[i].columns; ++column) {
          int const value = static_cast<int>(random() % 9) - (form.a[0] == 'u' && i < 2 ? 0 : 4);
          std::uint64_t const bits = encode(matrices[i].type, value);
          std::memcpy(memory.data() + matrices[i].place(row, column), &bits, matrices[i].bytes());
        }
      }
    }
  }

  std::string load(char fragment, unsigned index) {
    Matrix const& matrix = matrices[index];
    std::string const text = std::string("wmma.load.") + fragment + ".sync.aligned." + matrix.layout + "." +
                             form.shape + space + "." + matrix.type;
    checks_forms({text});
    return text + " " + list(fragment, index) + ", [%base+" + std::to_string(matrix.begin) + "]" + stride(matrix) +
           ";\n";
  }
  std::string stride(Matrix const& matrix) const { return padded ? ", " + std::to_string(matrix.stride) : ""; }
  std::string list(char fragment, unsigned index) const {
    std::string const kind(1, fragment == 'd' ? 'c' : fragment);
    unsigned const count = registers_of(kind, matrices[index].type, form.shape);
    return braces((std::string("%") + fragment).c_str(), count);
  }

  std::string text() {
    std::string const store =
        "wmma.store.d.sync.aligned." + matrices[3].layout + "." + form.shape + space + "." + form.d;
    checks_forms({store, name});
    bool const shared = space.starts_with(".shared");
    std::string const size = std::to_string(memory.size());
    std::string const copies = "mul.lo.u32 %i, %r, 16; copy_N: setp.lt.u32 %p, %i, " + size +
                               "; @!%p bra copied_N; "
                               "cvt.u64.u32 %x, %i; add.u64 %from, %FROM, %x; add.u64 %to, %TO, %x; "
                               "ld.v2.b64 {%y, %z}, [%from]; st.v2.b64 [%to], {%y, %z}; add.u32 %i, %i, 512; "
                               "bra copy_N; copied_N: bar.warp.sync -1;\n";
    auto const copy = [&](std::string const& n, std::string const& from, std::string const& to) {
      std::string made = copies;
      for (auto const& [what, with] : {std::pair(std::string("FROM"), from), {"TO", to}})
        for (auto at = made.find(what); at != made.npos; at = made.find(what)) made.replace(at, what.size(), with);
      for (auto at = made.find("_N"); at != made.npos; at = made.find("_N")) made.replace(at, 2, n);
      return made;
    };
    std::string const type = form.a == "f64" ? "b64" : "b32";
    return std::string(kHeader) +
           ".visible .entry k(.param .u64 m) {\n.reg .b64 %in, %base, %place, %from, %to, %x, %y, %z; .reg .b32 %r, "
           "%i; "
           ".reg .pred %p; .reg ." +
           type + " %a<8>, %b<8>, %c<8>, %d<8>; .shared .align 128 .b8 tile[" + size +
           "];\n"
           "ld.param.u64 %in, [m]; mov.u32 %r, %tid.x; mov.u64 %base, tile; cvta.shared.u64 %place, %base;\n" +
           (shared ? copy("1", "in", "place") : "mov.u64 %base, %in;\n") + load('a', 0) + load('b', 1) + load('c', 2) +
           name + " " + list('d', 3) + ", " + list('a', 0) + ", " + list('b', 1) + ", " + list('c', 2) + ";\n" + store +
           " [%base+" + std::to_string(matrices[3].begin) + "], " + list('d', 3) + stride(matrices[3]) + ";\n" +
           (shared ? "bar.warp.sync -1;\n" + copy("2", "place", "in") : "") + "ret;\n}\n";
  }

  void check(TestDevice& device) {
    device.load(text());
    auto* const on_device = device.upload(memory);
    ASSERT_EQ(text_of(device.run("k", {{1}, {32}, 0}, on_device)), "") << text();
    std::vector<std::byte> const after(on_device, on_device + memory.size());
    device.memory.free(reinterpret_cast<std::uintptr_t>(on_device));
    for (unsigned row = 0; row < form.m; ++row) {
      for (unsigned column = 0; column < form.n; ++column) {
        double sum = decode(form.c, matrices[2].get(memory, row, column));
        for (unsigned k = 0; k < form.k; ++k)
          sum += decode(form.a, matrices[0].get(memory, row, k)) * decode(form.a, matrices[1].get(memory, k, column));
        ASSERT_EQ(decode(form.d, matrices[3].get(after, row, column)), sum)
            << name << space << ' ' << row << ' ' << column;
      }
    }
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + matrices[3].begin, memory.begin())) << name;
  }

  std::string name;
  WmmaForm form;
  std::string space;
  bool padded;
  std::vector<Matrix> matrices;
  std::vector<std::byte> memory;
};

TEST_F(MatrixMemory, WmmaMultipliesMatricesOfEachTypeShapeLayoutAndSpace) {
  unsigned forms = 0;
  for (auto const* const form : ptx::all_forms()) {
    if (!form->name.starts_with("wmma.mma.")) continue;
    ++forms;
    for (auto const* const space : {"", ".global", ".shared", ".shared::cta"}) {
      WmmaTest(*form, space, forms % 2 == 0).check(device);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(forms, 132u);
}

TEST_F(MatrixMemory, AccumulatorsOfWmmaConsistOfTilesOfMma) {
  // The matrix holds 16 * row + column in row `row`.
  TestDevice own(1);
  own.load(std::string(kHeader) +
           ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .b64 %in, %out; .reg .b32 %r, %d<8>; "
           "ld.param.u64 %in, [a]; ld.param.u64 %out, [b]; mov.u32 %r, %tid.x; mad.wide.u32 %out, %r, 32, %out;\n"
           "wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, [%in], 16;\n"
           "st.global.v4.b32 [%out], {%d0, %d1, %d2, %d3}; st.global.v4.b32 [%out+16], {%d4, %d5, %d6, %d7}; ret; }\n");
  std::vector<std::uint32_t> matrix(256);
  for (unsigned i = 0; i < 256; ++i) matrix[i] = i;
  auto* const out = own.allocate<std::uint32_t>(256);
  EXPECT_EQ(text_of(own.run("k", {{1}, {32}, 0}, own.upload(matrix), out)), "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      unsigned const row = lane / 4 + (i % 4 < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8);
      EXPECT_EQ(out[8 * lane + i], 16 * row + column) << lane << ' ' << i;
    }
  }
}

struct FaultCase {
  char const* body;
  FaultKind kind;
  char const* what;
};

TEST_F(MatrixMemory, ReportsWhatAWarpMustNotDo) {
  std::string const load = "wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e0, %e1}, ";
  for (auto const& [body, kind, what] : std::initializer_list<FaultCase>{
           {"setp.lt.u32 %p, %r, 30; @!%p exit; movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r;", FaultKind::barrier,
            "an instruction of all 32 lanes of a warp, of which only 30 are there: kernel k, PTX line 8 (movmatrix"},
           {"setp.lt.u32 %p, %r, 30; @!%p bra end; movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r; bra done; end: "
            "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r; done:",
            FaultKind::barrier, "a deadlock"},
           {"setp.lt.u32 %p, %r, 31; @%p mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%r}, {%r}, "
            "{%r, %r};\nbar.sync 0;",
            FaultKind::barrier, "a deadlock"},
           {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%row+8];", FaultKind::misaligned_address,
            "a misaligned access of 16 bytes at 0x8"},
           {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [tile+2048];", FaultKind::out_of_range,
            "an access of 16 bytes at byte 2048 of shared memory, which has "},
           {"ldmatrix.sync.aligned.m8n8.x1.b16 {%d0}, [%in];", FaultKind::illegal_address,
            "an address outside of shared memory"},
           {"stmatrix.sync.aligned.m8n8.x1.b16 [%in], {%r};", FaultKind::illegal_address, "outside of shared memory"},
           {"wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e0, %e1}, [%mine], 8;", FaultKind::illegal_address,
            "a matrix whose address differs between lanes"},
           {"wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e0, %e1}, [%in], %r;", FaultKind::illegal_address,
            "a matrix whose stride differs between lanes"},
           {"wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e0, %e1}, [%in], 9;", FaultKind::misaligned_address,
            "a matrix whose address or stride is not a multiple of 16 bytes"},
           {"wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e0, %e1}, [%in+8], 8;", FaultKind::misaligned_address,
            "a matrix whose address or stride is not a multiple of 16 bytes"},
           {"wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%e0, %e1}, [%in], 512;", FaultKind::illegal_address,
            "an access of 16 bytes"},
           {"wmma.store.d.sync.aligned.row.m8n8k4.f64 [%in+2048], {%e0, %e1};", FaultKind::illegal_address,
            "an access of 16 bytes"}}) {
    device.load(kernel_of(std::string(".reg .f64 %e<2>; ") + body));
    auto const fault = device.run("k", {{1}, {32}, 0}, device.upload(memory), device.allocate<std::uint32_t>(128));
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, kind) << body;
    EXPECT_NE(fault->message.find(what), fault->message.npos) << fault->message;
  }
}

// Late lanes are waited for, also if they are late because of a long loop.
TEST_F(MatrixMemory, LanesMeetBeforeTheyMultiply) {
  run("mov.u32 %s0, %r; mov.u32 %x, 0; setp.eq.u32 %p, %r, 3; @!%p bra meet; loop: add.u32 %x, %x, 1; "
      "setp.lt.u32 %q, %x, 5000; @%q bra loop; mov.u32 %s0, 99; meet: "
      "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;");
  EXPECT_EQ(results[4 * (4 * 6)], 7u << 16 | 99);  // lanes 7 and 3
}

}}  // namespace cuda_cpu
