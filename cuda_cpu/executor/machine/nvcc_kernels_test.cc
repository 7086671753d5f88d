// Kernels with matrices, asynchronous copies, barriers and grid synchronization, compiled by nvcc: with mma.h, libcu++
// and cooperative groups. Each runs without checks, and with all checks, which must find nothing.
#include <cmath>
#include <random>
#include <thread>

#include "cuda_cpu/executor/steps/matrix_test_support.h"

namespace cuda_cpu { namespace {

struct Compiled {
  std::string arch;
  bool checked;
};

class NvccKernels : public testing::TestWithParam<Compiled> {
 protected:
  void load(std::string const& name) {
    std::ifstream file(TESTLOG_TEST_DIR "/nvcc_kernels/" + name + "." + GetParam().arch + ".ptx", std::ios::binary);
    ASSERT_TRUE(file) << name;
    device.load(std::string{std::istreambuf_iterator<char>(file), {}});
    if (GetParam().checked) device.options.checks = {true, true, true, true};
  }
  int arch() const { return std::stoi(GetParam().arch); }
  // Runs a cooperative launch.
  std::optional<Fault> run_grid(std::string_view name, LaunchShape const& shape, int* data, int rounds) {
    device.options.grid_workspace = reinterpret_cast<std::uintptr_t>(device.allocate<std::byte>(kGridWorkspaceBytes));
    return device.run(name, shape, data, rounds);
  }

  TestDevice device;
};

auto const compiled_for = [](std::vector<std::string> const& archs) {
  std::vector<Compiled> all;
  for (auto const& arch : archs)
    for (bool const checked : {false, true}) all.push_back({arch, checked});
  return testing::ValuesIn(all);
};
auto const name_of = [](auto const& one) { return "sm_" + one.param.arch + (one.param.checked ? "_checked" : ""); };

class MatrixKernels : public NvccKernels {
 protected:
  // Computes d = 2 * (a * b + c), with small integers, in matrices whose strides are longer than their lines.
  void multiply(std::string const& name, std::string const& type, std::string const& sum, int m, int n, int k,
                bool a_by_row, bool b_by_row) {
    int const pad = 16;
    int const lda = (a_by_row ? k : m) + pad, ldb = (b_by_row ? n : k) + pad, ldc = n + pad, ldd = m + pad;
    std::minstd_rand random(3);
    auto const fill = [&](std::string const& of, int count) {
      std::vector<std::uint64_t> values(static_cast<std::size_t>(count));
      for (auto& value : values) value = encode(of, static_cast<int>(random() % 9) - 4);
      return values;
    };
    auto const a = fill(type, lda * std::max(m, k)), b = fill(type, ldb * std::max(n, k)), c = fill(sum, ldc * m);
    auto* const out = upload(sum, std::vector<std::uint64_t>(static_cast<std::size_t>(ldd * n)));
    ASSERT_EQ(text_of(device.run(name, {{1}, {32}, 0}, upload(type, a), upload(type, b), upload(sum, c), out, lda, ldb,
                                 ldc, ldd)),
              "");
    auto const at = [](auto const& values, int i) { return values[static_cast<std::size_t>(i)]; };
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < n; ++column) {
        double expected = decode(sum, at(c, row * ldc + column));
        for (int i = 0; i < k; ++i) {
          expected += decode(type, at(a, a_by_row ? row * lda + i : i * lda + row)) *
                      decode(type, at(b, b_by_row ? i * ldb + column : column * ldb + i));
        }
        std::uint64_t bits = 0;
        auto const bytes = bits_of_type(sum) / 8;
        std::memcpy(&bits, out + static_cast<unsigned>(column * ldd + row) * bytes, bytes);
        ASSERT_EQ(decode(sum, bits), 2 * expected) << name << ' ' << row << ' ' << column;
      }
    }
  }

  std::byte* upload(std::string const& type, std::vector<std::uint64_t> const& values) {
    auto const bytes = bits_of_type(type) / 8;
    std::vector<std::byte> packed(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(packed.data() + i * bytes, &values[i], bytes);
    return device.upload(packed);
  }
};
INSTANTIATE_TEST_SUITE_P(All, MatrixKernels, compiled_for({"75", "80"}), name_of);
class AmpereMatrixKernels : public MatrixKernels {};
INSTANTIATE_TEST_SUITE_P(All, AmpereMatrixKernels, compiled_for({"80"}), name_of);

TEST_P(MatrixKernels, WmmaMultipliesTiles) {
  load("matrix");
  multiply("halves", "f16", "f32", 16, 16, 16, true, false);
  multiply("halves_to_halves", "f16", "f16", 16, 16, 16, true, true);
  multiply("tall_halves", "f16", "f32", 32, 8, 16, false, false);
  multiply("bytes", "s8", "s32", 16, 16, 16, true, false);
  if (arch() < 80) return;
  multiply("bfloats", "bf16", "f32", 16, 16, 16, true, false);
  multiply("doubles", "f64", "f64", 8, 8, 4, true, false);
}

TEST_P(AmpereMatrixKernels, WmmaRoundsToTf32) {
  load("matrix");
  std::vector<float> a(16 * 8), b(8 * 16);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = 1 + static_cast<float>(i) * 0x1p-12f;  // needs two bits more than tf32 has
    b[i] = static_cast<float>(static_cast<int>(i * 7 % 5) - 2);
  }
  auto* const d = device.allocate<float>(256);
  EXPECT_EQ(text_of(device.run("tf32", {{1}, {32}, 0}, device.upload(a), device.upload(b), d)), "");
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      double sum = 0;
      for (unsigned k = 0; k < 8; ++k)
        sum += std::floor(static_cast<double>(a[row * 8 + k]) * 0x1p10 + 0.5) * 0x1p-10 *
               static_cast<double>(b[k * 16 + column]);
      EXPECT_EQ(static_cast<double>(d[row * 16 + column]), sum) << row << ' ' << column;
    }
  }
}

TEST_P(AmpereMatrixKernels, TilesAreCopiedWhileOthersAreMultiplied) {
  load("matrix");
  unsigned const m = 96, n = 64, k = 80;
  std::minstd_rand random(5);
  std::vector<std::uint16_t> a(m * k), b(k * n);
  for (auto* const matrix : {&a, &b})
    for (auto& value : *matrix) value = static_cast<std::uint16_t>(encode("f16", static_cast<int>(random() % 17) - 8));
  auto* const c = device.allocate<float>(m * n);
  EXPECT_EQ(text_of(device.run("tiled", {{n / 32, m / 32}, {128}, 0}, device.upload(a), device.upload(b), c, n, k)),
            "");
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned column = 0; column < n; ++column) {
      double sum = 0;
      for (unsigned i = 0; i < k; ++i) sum += decode("f16", a[row * k + i]) * decode("f16", b[i * n + column]);
      ASSERT_EQ(static_cast<double>(c[row * n + column]), sum) << row << ' ' << column;
    }
  }
}

class AsynchronousKernels : public NvccKernels {};
INSTANTIATE_TEST_SUITE_P(All, AsynchronousKernels, compiled_for({"75", "80", "90"}), name_of);
class HopperKernels : public NvccKernels {};
INSTANTIATE_TEST_SUITE_P(All, HopperKernels, compiled_for({"90"}), name_of);

TEST_P(AsynchronousKernels, BarriersOfLibcuxxWaitForCopies) {
  load("asynchronous");
  unsigned const threads = 96, rounds = 5;
  std::vector<int> in(threads * rounds);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i);
  auto* const out = device.allocate<int>(in.size());
  EXPECT_EQ(text_of(device.run("barrier_rounds", {{1}, {threads}, threads * 4}, device.upload(in), out, rounds)), "");
  for (unsigned i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], in[i / threads * threads + threads - 1 - i % threads]) << i;
}

TEST_P(AsynchronousKernels, PrimitivesOfPipelinesFillWithZeros) {
  load("asynchronous");
  std::vector<std::uint64_t> in(128);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = 0x9e3779b97f4a7c15 * (i + 1);
  auto* const out = device.allocate<std::uint64_t>(in.size());
  EXPECT_EQ(text_of(device.run("primitives", {{1}, {32}, 0}, device.upload(in), out)), "");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(out[2 * i], in[2 * (31 - i)]) << i;
    EXPECT_EQ(out[2 * i + 1], in[2 * (31 - i) + 1]) << i;
    EXPECT_EQ(out[64 + 2 * i], in[64 + 2 * (31 - i)]) << i;
    EXPECT_EQ(out[64 + 2 * i + 1], 0u) << i;
  }
}

TEST_P(AsynchronousKernels, PipelinesHaveStages) {
  load("asynchronous");
  unsigned const rows = 7;
  std::vector<float> in(128 * rows);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  auto* const out = device.allocate<float>(in.size());
  EXPECT_EQ(text_of(device.run("pipeline_stages", {{1}, {128}, 0}, device.upload(in), out, rows)), "");
  for (unsigned i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], 2 * in[i / 128 * 128 + 127 - i % 128]) << i;
}

TEST_P(AsynchronousKernels, GroupsCopyTogether) {
  load("asynchronous");
  std::vector<float> in(128);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  auto* const out = device.allocate<float>(in.size());
  EXPECT_EQ(text_of(device.run("group_copy", {{1}, {128}, 0}, device.upload(in), out)), "");
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(out[i], static_cast<float>(127 - i)) << i;
}

TEST_P(AsynchronousKernels, BlocksOfAGridMeet) {
  load("asynchronous");
  unsigned const blocks = 70, threads = 40;  // more blocks than two workers begin for a run that is not cooperative
  std::vector<int> data(blocks * threads);
  for (unsigned i = 0; i < data.size(); ++i) data[i] = static_cast<int>(1000 * i);
  auto* const on_device = device.upload(data);
  EXPECT_EQ(text_of(run_grid("grid_rounds", {{blocks}, {threads}, 0}, on_device, 4)), "");
  for (unsigned i = 0; i < data.size(); ++i) EXPECT_EQ(on_device[i], data[(i + 4) % data.size()] + 4) << i;
}

// Each launch has as many blocks as two workers begin for a run that is not cooperative.
TEST_P(AsynchronousKernels, CooperativeLaunchesRunBesideEachOther) {
  load("asynchronous");
  unsigned const blocks = 32;
  auto const* const kernel = device.program->find_kernel("grid_rounds");
  struct Parameters {
    int* data;
    int rounds;
  };
  std::vector<std::thread> threads;
  std::vector<int*> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(device.upload(std::vector<int>(blocks, i)));
    auto const workspace = reinterpret_cast<std::uintptr_t>(device.allocate<std::byte>(kGridWorkspaceBytes));
    threads.emplace_back([&, workspace, data = all.back()] {
      RunOptions options = device.options;
      options.grid_workspace = workspace;
      Parameters const parameters{data, 10};
      EXPECT_EQ(text_of(device.executor->run(*kernel, {{blocks}, {1}, 0}, std::as_bytes(std::span(&parameters, 1)),
                                             device.memory, options)),
                "");
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)][5], i + 10);
}

TEST_P(AsynchronousKernels, OnlyCooperativeLaunchesMeet) {
  load("asynchronous");
  auto const fault = device.run("grid_rounds", {{2}, {32}, 0}, device.allocate<int>(64), 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::trap);  // cooperative groups end such a kernel by a trap
}

TEST_P(HopperKernels, ClustersHaveOneBlock) {
  load("asynchronous");
  auto* const out = device.allocate<int>(64);
  EXPECT_EQ(text_of(device.run("cluster", {{1}, {64}, 0}, out)), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1063 - i) << i;
}

TEST_P(HopperKernels, BulkCopiesCompleteTheirBarrier) {
  load("asynchronous");
  std::vector<int> in(256);
  for (int i = 0; i < 256; ++i) in[static_cast<std::size_t>(i)] = i * i;
  auto* const out = device.allocate<int>(256);
  EXPECT_EQ(text_of(device.run("bulk_copy", {{1}, {256}, 0}, device.upload(in), out)), "");
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], (255 - i) * (255 - i)) << i;
}

}}  // namespace cuda_cpu
