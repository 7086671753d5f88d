// The tests that scenarios_test.cc runs as a separate program to check its output. They run on the CPU unless
// CUDA_TESTS_BACKEND=cuda.
#define TRACE_TARGET "cuda_tests"
#include <testlog/testlog.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/runtime/client.h"
#include "cuda_tests/runtime/error.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/tracing.h"

namespace cuda_tests { namespace {

Backend& backend() {
  char const* const wanted = std::getenv("CUDA_TESTS_BACKEND");
  std::string why;
  Backend* const found =
      wanted != nullptr && std::string_view(wanted) == "cuda" ? Backend::cuda(why) : Backend::cpu(why);
  if (found == nullptr) throw std::runtime_error(why);
  return *found;
}

void saxpy(Client const& client) {
  Handle const x = client.create(std::vector<float>(300, 2.0f));
  Handle const y = client.create(std::vector<float>(300, 1.0f));
  client.launch(saxpy_kernel(), {2, 1, 1}, {3.0f, x, y, 300});
  EXPECT_EQ(client.read<float>(y), std::vector<float>(300, 7.0f));
}

TEST_LOG(Scenario, IdentityOfHalves) {
  Client const client(backend());
  Handle const input = client.create(std::vector<std::uint16_t>(1024 * 1024, 0x3c00));
  Handle const output = client.empty(input.bytes);
  client.launch(identity_kernel(), {4, 64, 1}, {input, output, 1024u * 1024u / kIdentityLine});
  EXPECT_EQ(client.read<std::uint16_t>(output), std::vector<std::uint16_t>(1024 * 1024, 0x3c00));
}

TEST_LOG(Scenario, CompilesLaunchesAndReads) { saxpy(Client(backend())); }

TEST_LOG(Scenario, CompilesOnceForTwoServers) {
  saxpy(Client(backend()));
  TRACE_INFO("the second server");
  saxpy(Client(backend()));
}

TEST_LOG(Scenario, FailsToCompile) {
  Client const client(backend());
  Kernel kernel = faults_kernel("broken");
  kernel.source = "extern \"C\" __global__ void broken(float* x) {\n  x[0] = undefined_symbol;\n}\n";
  EXPECT_THROW(client.launch(kernel, {1, 1, 1}, {client.empty(4)}), tracing::cuda::CompileError);
}

TEST_LOG(Scenario, FailsToCompileTwice) {
  Client const client(backend());
  Kernel kernel = faults_kernel("broken");
  kernel.source = "broken";
  for (int i = 0; i < 2; ++i) EXPECT_THROW(client.launch(kernel, {1, 1, 1}, {}), tracing::cuda::CompileError);
}

TEST_LOG(Scenario, NeverEnds) {
  Client const client(backend());
  Kernel kernel = faults_kernel("spin");
  kernel.source = "extern \"C\" __global__ void spin(float volatile* x) {\n  while (*x == 0) {}\n}\n";
  Handle const x = client.create(std::vector<float>(1));
  client.launch(kernel, {1, 1, 1}, {x});
  client.read<float>(x);
}

TEST_LOG(Scenario, HasTooManyThreads) {
  Client const client(backend());
  EXPECT_THROW(client.launch(faults_kernel("empty", 2048), {1, 1, 1}, {}), Error);
}

// The kernel stops in a debugger, which the CPU does not support.
TEST_LOG(Scenario, HasAnUnsupportedInstruction) {
  Client const client(backend());
  Kernel kernel = faults_kernel("unknown", 32);
  kernel.source =
      "extern \"C\" __global__ void unknown(unsigned* x) {\n"
      "  asm volatile(\"brkpt;\");\n"
      "}\n";
  EXPECT_THROW(client.launch(kernel, {1, 1, 1}, {client.empty(128)}), Error);
}

TEST_LOG(Scenario, AllocatesTooMuchMemory) {
  Client const client(backend());
  EXPECT_THROW(client.empty(std::size_t{1} << 46), Error);
}

TEST_LOG(Scenario, EndsAfterItsSpan) {
  Client const client(backend());
  {
    TRACE_SPAN(info, "step", tracing::kv("number", 1));
    client.launch(faults_kernel("empty"), {1, 1, 1}, {});
  }
  client.sync();
}

// Blocks of one warp, so that the order of instructions is fixed.
TEST_LOG(Scenario, RunsTwoSmallBlocks) {
  Client const client(backend());
  Handle const x = client.create(std::vector<float>(8, 2.0f));
  Handle const y = client.create(std::vector<float>(8, 1.0f));
  Kernel kernel = saxpy_kernel();
  kernel.id.cube_dim = {4};
  client.launch(kernel, {2, 1, 1}, {3.0f, x, y, 6});
  EXPECT_EQ(client.read<float>(y), (std::vector<float>{7, 7, 7, 7, 7, 7, 1, 1}));
}

TEST_LOG(Scenario, RunsOneSmallBlock) {
  Client const client(backend());
  Handle const y = client.create(std::vector<float>(4, 1.0f));
  Kernel kernel = saxpy_kernel();
  kernel.id.cube_dim = {4};
  client.launch(kernel, {1, 1, 1}, {3.0f, y, y, 4});
  EXPECT_EQ(client.read<float>(y), std::vector<float>(4, 4.0f));
}

TEST_LOG(Scenario, UsesTwoStreams) {
  Client const first(backend());
  Client const second = first.on_stream({1});
  Handle const y = first.create(std::vector<float>(256, 1.0f));
  Handle const x = second.create(std::vector<float>(256, 2.0f));
  first.launch(saxpy_kernel(), {1, 1, 1}, {3.0f, x, y, 256});
  second.launch(saxpy_kernel(), {1, 1, 1}, {1.0f, y, x, 256});
  EXPECT_EQ(second.read<float>(x), std::vector<float>(256, 9.0f));
}

// The first kernel ends after the host has read the result of the second kernel. All modules and memory are prepared
// before: a driver may wait for running kernels before it loads a module or allocates memory.
TEST_LOG(Scenario, RunsTwoKernelsConcurrently) {
  Client const first(backend());
  Client const second = first.on_stream({1});
  void* memory = nullptr;
  ASSERT_EQ(backend().driver().mem_host_alloc(&memory, sizeof(unsigned), 0), CUDA_SUCCESS);
  std::atomic_ref flag(*static_cast<unsigned*>(memory));
  flag = 0;
  auto const address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(memory));
  Handle const seen{std::make_shared<Slice const>(Slice{address, 0, sizeof(unsigned)}), sizeof(unsigned),
                    first.stream()};
  Handle const y = second.create(std::vector<float>(256, 2.0f));
  second.launch(saxpy_kernel(), {1, 1, 1}, {3.0f, y, y, 256});
  EXPECT_EQ(second.read<float>(y), std::vector<float>(256, 8.0f));
  first.launch(faults_kernel("wait_for"), {1, 1, 1}, {seen});
  second.launch(saxpy_kernel(), {1, 1, 1}, {3.0f, y, y, 256});
  EXPECT_EQ(second.read<float>(y), std::vector<float>(256, 32.0f));
  EXPECT_FALSE(first.is_done());
  flag = 1;
  first.sync();
  backend().driver().mem_free_host(memory);
}

// This test breaks the device but does not check for errors.
TEST_LOG(Broken, WritesOutOfBounds) {
  Client const client(backend());
  Handle const values = client.empty(32 * sizeof(int));
  TRACE_SPAN(info, "step", tracing::kv("number", 2));
  client.launch(faults_kernel("out_of_bounds", 32), {2, 1, 1}, {values, 32});
}
TEST_LOG(Broken, UsesTheBrokenDevice) {
  Client const client(backend());
  saxpy(client);
}
TEST_LOG(Broken, UsesNoDevice) { TRACE_INFO("no device is used"); }

TEST_LOG(Trap, IsInTheSecondOfTwoLaunches) {
  Client const client(backend());
  Handle const values = client.create(std::vector<int>{1, 2, 3, 4});
  client.launch(faults_kernel("empty"), {1, 1, 1}, {});
  client.launch(faults_kernel("trap_if", 4), {1, 1, 1}, {values, 3});
}

}}  // namespace cuda_tests
