#include "cuda_cpu/fatbin/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "cuda_cpu/fatbin/decompress.h"
#include "cuda_cpu/fatbin/fatbin_test_support.h"

namespace cuda_cpu::fatbin { namespace {

using ::testing::HasSubstr;

// Returns entries for targets such as "sm_75", "compute_90a" and "lto_75".
std::vector<Entry> entries_for(std::initializer_list<std::string_view> targets) {
  std::vector<Entry> all;
  for (auto const target : targets) {
    auto& entry = all.emplace_back();
    entry.kind = target.starts_with("sm") ? Kind::machine_code : target.starts_with("lto") ? Kind::lto : Kind::ptx;
    entry.arch = std::stoi(std::string(target.substr(target.find('_') + 1)));
    if (target.back() == 'a' || target.back() == 'f') entry.suffix = target.back();
  }
  return all;
}

std::string chosen(int capability, std::initializer_list<std::string_view> targets) {
  auto const entries = entries_for(targets);
  auto const* const entry = choose(entries, capability);
  return entry == nullptr ? why_no_ptx(entries, capability) : entry->target();
}

TEST(ChoosePtx, PrefersTheHighestTargetUpToTheDevice) {
  EXPECT_EQ(chosen(90, {"compute_75", "compute_90", "compute_80", "compute_100"}), "compute_90");
  EXPECT_EQ(chosen(89, {"compute_75", "compute_90", "compute_80", "compute_100"}), "compute_80");
  EXPECT_EQ(chosen(90, {"sm_90", "compute_75"}), "compute_75");
}

TEST(ChoosePtx, ElseTakesTheLowestTargetAboveTheDevice) {
  EXPECT_EQ(chosen(90, {"compute_120", "compute_100", "compute_121"}), "compute_100");
  EXPECT_EQ(chosen(90, {"compute_121"}), "compute_121");
}

TEST(ChoosePtx, TakesPtxForOneArchitectureOnlyOnThatDeviceOrAsTheLastChoice) {
  EXPECT_EQ(chosen(90, {"compute_80", "compute_90a"}), "compute_90a");
  EXPECT_EQ(chosen(90, {"compute_90a", "compute_90"}), "compute_90");
  EXPECT_EQ(chosen(90, {"compute_100a", "compute_120"}), "compute_120");
  EXPECT_EQ(chosen(100, {"compute_90a", "compute_80"}), "compute_80");
  EXPECT_EQ(chosen(103, {"compute_100f", "compute_90"}), "compute_100f");
  EXPECT_EQ(chosen(110, {"compute_100f", "compute_90"}), "compute_90");
  EXPECT_EQ(chosen(90, {"compute_100f"}), "compute_100f");
}

TEST(ChoosePtx, WithoutPtxSaysWhatThereIsAndWhichOptionAddsIt) {
  EXPECT_EQ(chosen(90, {"sm_75"}),
            "only machine code for sm_75; add -gencode arch=compute_75,code=compute_75, or "
            "CMAKE_CUDA_ARCHITECTURES=75 (not 75-real)");
  EXPECT_EQ(chosen(90, {"sm_75", "sm_86", "sm_100"}),
            "only machine code for sm_75, sm_86 and sm_100; add -gencode arch=compute_86,code=compute_86, or "
            "CMAKE_CUDA_ARCHITECTURES=86 (not 86-real)");
  EXPECT_THAT(chosen(90, {"sm_120", "sm_100"}), HasSubstr("machine code for sm_120 and sm_100; add -gencode "
                                                          "arch=compute_100,"));
  EXPECT_THAT(chosen(90, {"lto_75", "sm_80"}),
              HasSubstr("only machine code for sm_80 and code for link-time optimization (-dlto) for compute_75; add"));
  EXPECT_THAT(chosen(90, {"compute_130"}), HasSubstr("only PTX for compute_130; add -gencode arch=compute_75,"));
  EXPECT_EQ(chosen(90, {}), "a fat binary without code");
}

TEST(FindPtx, ReadsAContainer) {
  auto const container = read_testdata("plain.fatbin");
  auto const found = find_ptx(bytes_of(container), 90);
  ASSERT_EQ(error_of(found), "");
  EXPECT_EQ(std::get<0>(found).arch, 75);
  EXPECT_THAT(std::get<0>(found).text, HasSubstr(".visible .entry store("));
}

TEST(FindPtx, ReadsWhatAProgramRegisters) {
  auto const container = read_testdata("plain.fatbin");
  Wrapper const wrapper{.data = container.data()};
  for (void const* const image : {static_cast<void const*>(&wrapper), static_cast<void const*>(container.data())}) {
    auto const found = find_ptx(image, 90);
    ASSERT_EQ(error_of(found), "");
    EXPECT_EQ(std::get<0>(found).arch, 75);
  }
}

TEST(FindPtx, ChoosesAmongTheTargetsThatNvccCompilesFor) {
  if (!has_zstd()) GTEST_SKIP() << "this build lacks zstd";
  auto const arch = [](std::string const& file, int capability) {
    auto const container = read_testdata(file);
    auto const found = find_ptx(bytes_of(container), capability);
    EXPECT_EQ(error_of(found), "");
    return std::holds_alternative<Ptx>(found) ? std::get<0>(found).arch : 0;
  };
  EXPECT_EQ(arch("default.fatbin", 90), 75);
  EXPECT_EQ(arch("all_major.fatbin", 90), 120);
  EXPECT_EQ(arch("several.fatbin", 90), 80);
  EXPECT_EQ(arch("several.fatbin", 70), 75);
  EXPECT_EQ(arch("several.fatbin", 120), 100);
  EXPECT_EQ(arch("specific.fatbin", 90), 90);
}

TEST(FindPtx, ReportsAContainerWithoutPtx) {
  auto const container = read_testdata("machine_code.fatbin");
  auto const found = find_ptx(bytes_of(container), 90);
  ASSERT_TRUE(std::holds_alternative<Error>(found));
  EXPECT_EQ(std::get<Error>(found).kind, ErrorKind::no_ptx);
  EXPECT_THAT(error_of(found), HasSubstr("only machine code for sm_75 and sm_80; add -gencode arch=compute_80,"));
  auto const lto = read_testdata("lto.fatbin");
  EXPECT_THAT(error_of(find_ptx(bytes_of(lto), 90)), HasSubstr("only code for link-time optimization (-dlto)"));
}

}}  // namespace cuda_cpu::fatbin
