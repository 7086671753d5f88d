// Against ptxas, where the toolkit is: what it rejects never loads, each form that we accept is one that it takes, and one of
// PTX that we do not have only refuses its entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "cuda_tests/ptx/forms.h"
#include "cuda_tests/ptx/parse.h"
#include "cuda_tests/ptx/ptxas.h"
#include "cuda_tests/ptx/sample_text.h"

namespace cuda_tests::ptx {
namespace {

bool loads(std::string const& text) { return parse(text).index() == 0; }

struct Isa {
  unsigned target, version;
  char const* number;
};

class OracleFor : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Oracle, OracleFor, testing::Values(Isa{75, 63, "6.3"}, Isa{75, 70, "7.0"}, Isa{90, 90, "9.0"}),
                         [](auto const& one) { return "ptx" + std::to_string(one.param.version); });

TEST_P(OracleFor, TakesEachFormOfTheTable) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  auto const& [target, version, number] = GetParam();
  constexpr unsigned kOfAnEntry = 500;  // ptxas takes for a long entry far longer than for several short ones
  std::string text = sample_head(target, number);
  unsigned forms = 0;
  for (auto const* const form : all_forms()) {
    if (form->minimal_target > target || form->minimal_version > version) continue;
    if (++forms % kOfAnEntry == 0) text += sample_next(forms);
    text += sample_instruction(*form) + "\n";
  }
  EXPECT_EQ(complaint(text + sample_tail()), "") << number;
}

// The lines of a text, from 1, about which ptxas complains.
std::set<int> lines_of(std::string const& complaint) {
  std::set<int> lines;
  for (auto at = complaint.find(", line "); at != complaint.npos; at = complaint.find(", line ", at + 1)) lines.insert(std::atoi(complaint.c_str() + at + 7));
  return lines;
}

TEST(Oracle, RejectsEachFormThatItsTargetOrVersionLacks) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  for (auto const& [target, version, number] : std::initializer_list<std::tuple<unsigned, unsigned, char const*>>{{75, 63, "6.3"}, {75, 90, "9.0"}, {80, 75, "7.5"}}) {
    std::string text = sample_head(target, number);
    int line = static_cast<int>(std::ranges::count(text, '\n'));
    std::map<int, std::string> lacking;
    for (auto const* const form : all_forms()) {
      if (form->minimal_target <= target && form->minimal_version <= version) continue;
      lacking[++line] = form->name;
      text += sample_instruction(*form) + "\n";
    }
    auto const rejected = lines_of(complaint(text + sample_tail()));
    for (auto const& [at, name] : lacking) EXPECT_TRUE(rejected.contains(at)) << name << " is in PTX " << number << " for sm_" << target;
  }
}

// Right words, and wrong ones: what we take for PTX is PTX.
TEST(Oracle, TakesWhatIsOnlyRefused) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  std::string all = sample_head(90);
  std::map<int, std::string> instructions;  // by their lines
  for (std::string const instruction :
       {"add.rn.bf16 %b16_0, %b16_1, %b16_2;", "fma.rn.relu.bf16x2 %b32_0, %b32_1, %b32_2, %b32_3;", "min.xorsign.abs.f32 %f32_0, %f32_1, %f32_2;",
        "mad.lo.cc.u32 %u32_0, %u32_1, %u32_2, %u32_3;", "madc.hi.cc.s64 %s64_0, %s64_1, %s64_2, %s64_3;", "mad24.hi.sat.s32 %s32_0, %s32_1, %s32_2, %s32_3;",
        "add.u16x2 %b32_0, %b32_1, %b32_2;", "max.relu.s32 %s32_0, %s32_1, %s32_2;", "fns.b32 %b32_0, %b32_1, %b32_2, %s32_3;",
        "setp.lt.and.bf16 %pred_0, %b16_1, %b16_2, %pred_3;", "set.lt.bf16.f32 %b16_0, %f32_1, %f32_2;", "set.leu.u32.f16 %u32_0, %f16_1, %f16_2;",
        "cvt.rn.bf16.f32 %b16_0, %f32_1;", "cvt.rn.satfinite.e4m3x2.f32 %b16_0, %f32_1, %f32_2;", "cvt.rna.tf32.f32 %b32_0, %f32_1;", "cvt.rn.relu.f16.f32 %f16_0, %f32_1;",
        "ld.global.L1::evict_last.L2::128B.v4.u32 {%u32_0, %u32_1, %u32_2, %u32_3}, [%b64_4];", "ld.mmio.relaxed.sys.global.u32 %u32_0, [%b64_4];",
        "ld.relaxed.cluster.shared::cluster.u32 %u32_0, [%b64_4];", "st.global.L1::no_allocate.u32 [%b64_4], %u32_0;", "ld.param::entry.u32 %u32_0, [sample_parameter];",
        "atom.global.v2.f32.add {%f32_0, %f32_1}, [%b64_4], {%f32_2, %f32_3};", "atom.acquire.cluster.global.add.u32 %u32_0, [%b64_4], 1;", "red.cluster.global.add.u32 [%b64_4], 1;",
        "fence.acquire.gpu;", "fence.proxy.alias;", "elect.sync %u32_0|%pred_1, -1;", "barrier.cluster.arrive;", "griddepcontrol.wait;", "brkpt;", "pmevent 1;",
        "alloca.u64 %u64_0, 16;", "prefetch.global.L1 [%b64_4];", "prefetchu.L1 [%b64_4];", "applypriority.global.L2::evict_normal [%b64_4], 128;", "discard.global.L2 [%b64_4], 128;",
        "createpolicy.fractional.L2::evict_last.b64 %b64_0, 0.5;", "mapa.u64 %u64_0, %u64_1, %u32_2;", "tex.1d.v4.f32.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, [%u64_1, {%f32_4}];",
        "suld.b.1d.b32.trap %b32_0, [%u64_1, {%u32_2}];", "vadd.u32.u32.u32 %u32_0, %u32_1, %u32_2;", "vadd4.u32.u32.u32 %u32_0, %u32_1, %u32_2, %u32_3;",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f64_0, %f64_1}, {%f64_2}, {%f64_3}, {%f64_0, %f64_1};", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b32_0}, [%b64_4];",
        "cp.async.ca.shared.global [%b64_4], [%b64_5], 16;", "cp.async.wait_all;", "cp.async.bulk.wait_group 0;", "mbarrier.init.shared.b64 [%b64_4], 1;",
        "mbarrier.try_wait.shared.b64 %pred_0, [%b64_4], %b64_1;", "mov.b32 %b32_0, %envreg31;", "mov.u32 %u32_0, %cluster_ctaid.x;", "mov.u64 %u64_0, %pm7_64;"}) {
    all += sample_next(static_cast<unsigned>(instructions.size()));
    instructions[static_cast<int>(std::ranges::count(all, '\n')) + 1] = instruction;
    all += instruction + "\n";
    auto const parsed = parse(sample_head(90) + instruction + "\n" + sample_tail());
    ASSERT_EQ(parsed.index(), 0u) << instruction << std::get<1>(parsed).to_string();
    EXPECT_TRUE(std::get<0>(parsed)->find_entry("sample")->refusal) << instruction;
  }
  auto const said = complaint(all + sample_tail());
  EXPECT_EQ(said, "");
  for (int const line : lines_of(said)) ADD_FAILURE() << instructions[line];
}

// The first lines in which two texts differ.
std::string difference(std::string const& before, std::string const& after) {
  std::size_t const at = static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
  std::size_t const begin = before.rfind('\n', at) + 1;
  auto const line = [&](std::string const& text) { return text.substr(begin, text.find('\n', std::min(at, text.size())) - begin); };
  return line(before) + "\n" + line(after) + "\n";
}

// One token of a kernel is changed, dropped or doubled.
std::string mutated(std::string text, std::mt19937& random) {
  auto const pick = [&](std::size_t count) { return static_cast<std::size_t>(random()) % count; };
  std::size_t const body = text.find(".entry");
  std::size_t at = body + pick(text.size() - body);
  at = std::min(text.find_first_of(" \t,.;[]%", at), text.size() - 2);
  std::size_t const end = std::min(text.find_first_of(" \t,.;[]%\n", at + 1), text.size());
  static constexpr std::string_view kPieces[] = {".s32", ".f32", ".u64", ".sat", ".rn", ".ftz", " %r1", " %rd1", " %f1", " %p1", ";", ",", "", " 5", ".v2", "[", ".global", ".wide", ".b16", " 0f00000000", "+4"};
  switch (pick(3)) {
    case 0: return text.erase(at, end - at);
    case 1: return text.insert(at, text.substr(at, end - at));
    default: return text.replace(at, end - at, kPieces[pick(std::size(kPieces))]);
  }
}

// How often each text is broken: more of it in longer runs, by the environment.
int mutations() {
  char const* const given = std::getenv("TESTLOG_PTX_MUTATIONS");
  return given != nullptr ? std::atoi(given) : TESTLOG_MUTATIONS;
}

class OracleOf : public testing::TestWithParam<char const*> {};
INSTANTIATE_TEST_SUITE_P(Oracle, OracleOf, testing::Values("faults", "histogram", "identity", "matmul", "reduce", "saxpy", "scan", "softmax", "transpose"),
                         [](auto const& one) { return std::string(one.param); });

TEST_P(OracleOf, WhatItRejectsNeverLoads) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: broken texts are not compared";
  int accepted = 0, rejected = 0, only_here = 0;
  for (std::string const variant : {"75", "90.fast"}) {
    std::ifstream file(TESTLOG_TEST_DIR "/../executor/testdata/" + std::string(GetParam()) + "." + variant + ".ptx");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_TRUE(loads(text)) << variant;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      std::mt19937 random(seed);
      for (int i = 0; i < mutations(); ++i) {
        auto const broken = mutated(text, random);
        bool const here = loads(broken);
        if (!here && std::getenv("TESTLOG_PTX_BOTH") == nullptr) {
          ++rejected;
          continue;
        }
        auto const said = complaint(broken);
        if (here) EXPECT_EQ(said, "") << difference(text, broken);
        else if (said.empty()) std::printf("only here: %s\n%s\n", std::get<1>(parse(broken)).to_string().c_str(), difference(text, broken).c_str());
        ++(here ? accepted : said.empty() ? only_here : rejected);
      }
    }
  }
  RecordProperty("accepted", accepted);
  RecordProperty("rejected", rejected);
  RecordProperty("only_rejected_here", only_here);
}

}  // namespace
}  // namespace cuda_tests::ptx
