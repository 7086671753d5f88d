// Programs of several translation units (nvcc -rdc=true): their registered PTX is linked, and runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_cpu/executor/executor.h"
#include "cuda_cpu/fatbin/choose.h"
#include "cuda_cpu/fatbin/decompress.h"
#include "cuda_cpu/fatbin/fatbin_test_support.h"
#include "cuda_cpu/ptx/parse.h"

namespace cuda_cpu::fatbin { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a fat binary with this text, not compressed.
std::string container_with(std::string text) {
  text.resize((text.size() + 7) / 8 * 8);
  std::string const file = read_testdata("plain.fatbin");
  std::string made = file.substr(0, 16 + 80);
  std::uint64_t const payload = text.size(), all = 80 + payload;
  std::memcpy(made.data() + 8, &all, sizeof all);
  std::memcpy(made.data() + 16 + 8, &payload, sizeof payload);
  return made + text;
}

// Returns the PTX that find_ptx() links from a wrapper of these containers.
Result<Ptx> find_linked(std::vector<std::string> const& containers) {
  std::vector<void const*> units;
  for (auto const& container : containers) units.push_back(container.data());
  units.push_back(nullptr);
  Wrapper const wrapper{.version = 2, .units = units.data()};
  return find_ptx(&wrapper, 90);
}

std::string const kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

TEST(LinkedUnits, CallEachOthersFunctionsAndKeepTheirOwn) {
  if (!has_zstd()) GTEST_SKIP() << "this build lacks zstd";
  auto const found = find_linked({read_testdata("linked_first.fatbin"), read_testdata("linked_second.fatbin")});
  ASSERT_EQ(error_of(found), "");
  auto const parsed = ptx::parse(std::get<0>(found).text);
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<ptx::Module const>>(parsed)) << std::get<0>(found).text;
  DeviceMemory memory;
  auto const program = Program::load(std::get<0>(parsed), memory);
  ASSERT_NE(program, nullptr);
  auto const address = memory.allocate(sizeof(int));
  auto* const value = reinterpret_cast<int*>(address);
  std::string printed;
  Executor executor({.workers = 1});
  RunOptions options;
  options.print = [&](std::string_view text) { printed += text; };
  auto const run = [&](std::string_view kernel) {
    auto const* const found_kernel = program->find_kernel(kernel);
    ASSERT_NE(found_kernel, nullptr) << kernel;
    auto const fault = executor.run(*found_kernel, {}, std::as_bytes(std::span(&address, 1)), memory, options);
    EXPECT_FALSE(fault) << fault->message;
  };
  *value = 1;
  run("first");
  EXPECT_EQ(*value, 2 * ((1 + 3) + 4) + 5);
  run("second");
  EXPECT_EQ(*value, 21 + 4);
  EXPECT_EQ(printed, "first: 21\nsecond: 25\n");
}

TEST(LinkedUnits, UseTheBestTargetOfEachUnit) {
  if (!has_zstd()) GTEST_SKIP() << "this build lacks zstd";
  auto const found = find_linked({container_with(kHeader), read_testdata("all_major.fatbin")});
  ASSERT_EQ(error_of(found), "");
  EXPECT_EQ(std::get<0>(found).arch, 120);
  EXPECT_THAT(std::get<0>(found).text, AllOf(HasSubstr(".target sm_120"), HasSubstr(".visible .entry store(")));
}

TEST(LinkedUnits, DoNotIncludeTheDeviceRuntime) {
  auto const runtime = container_with(kHeader +
                                      ".visible .global .align 4 .u32 __CNPRT_VERSION_NUMBER__ = 1;\n"
                                      ".visible .func __cudaCDP2Malloc { ret; }\n");
  auto const program = container_with(kHeader +
                                      ".extern .func __cudaCDP2Malloc; .visible .entry k() { call __cudaCDP2Malloc; }\n"
                                      ".visible .entry fine() { ret; }\n");
  auto const found = find_linked({program, runtime});
  ASSERT_EQ(error_of(found), "");
  EXPECT_THAT(std::get<0>(found).text, Not(HasSubstr("__CNPRT_VERSION_NUMBER__")));
  auto const parsed = ptx::parse(std::get<0>(found).text);
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<ptx::Module const>>(parsed));
  auto const& module = *std::get<0>(parsed);
  ASSERT_TRUE(module.find_entry("k")->refusal);
  EXPECT_THAT(
      module.find_entry("k")->refusal->message,
      HasSubstr("a call of '__cudaCDP2Malloc': kernels cannot call the CUDA runtime, launch kernels or change graphs"));
  EXPECT_FALSE(module.find_entry("fine")->refusal);
}

TEST(LinkedUnits, ReportWhyTheyCannotBeUsed) {
  auto const unit = container_with(kHeader + ".visible .func f { ret; }\n");
  EXPECT_EQ(error_of(find_linked({unit, unit})),
            "multiple definitions of 'f', in translation unit 1 and translation unit 2");
  EXPECT_THAT(error_of(find_linked({unit, read_testdata("machine_code.fatbin")})),
              HasSubstr("translation unit 2 of 2: only machine code for sm_75 and sm_80; add -gencode"));
  EXPECT_EQ(error_of(find_linked({})), "a fat binary without code");
}

}}  // namespace cuda_cpu::fatbin
