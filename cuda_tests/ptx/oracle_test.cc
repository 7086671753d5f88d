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
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

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
  for (auto at = complaint.find(", line "); at != complaint.npos; at = complaint.find(", line ", at + 1))
    lines.insert(std::atoi(complaint.c_str() + at + 7));
  return lines;
}

TEST(Oracle, RejectsEachFormThatItsTargetOrVersionLacks) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  for (auto const& [target, version, number] :
       std::initializer_list<std::tuple<unsigned, unsigned, char const*>>{{75, 63, "6.3"}, {75, 90, "9.0"}, {80, 75, "7.5"}}) {
    std::string text = sample_head(target, number);
    int line = static_cast<int>(std::ranges::count(text, '\n'));
    std::map<int, std::string> lacking;
    for (auto const* const form : all_forms()) {
      if (form->minimal_target <= target && form->minimal_version <= version) continue;
      lacking[++line] = form->name;
      text += sample_instruction(*form) + "\n";
    }
    auto const rejected = lines_of(complaint(text + sample_tail()));
    for (auto const& [at, name] : lacking)
      EXPECT_TRUE(rejected.contains(at)) << name << " is in PTX " << number << " for sm_" << target;
  }
}

// What PTX has and we do not, for sm_90 ...
constexpr char const* kOnlyRefused[] = {
    "add.rn.bf16 %b16_0, %b16_1, %b16_2;", "fma.rn.relu.bf16x2 %b32_0, %b32_1, %b32_2, %b32_3;",
    "min.xorsign.abs.f32 %f32_0, %f32_1, %f32_2;", "mad.lo.cc.u32 %u32_0, %u32_1, %u32_2, %u32_3;",
    "madc.hi.cc.s64 %s64_0, %s64_1, %s64_2, %s64_3;", "mad24.hi.sat.s32 %s32_0, %s32_1, %s32_2, %s32_3;",
    "add.u16x2 %b32_0, %b32_1, %b32_2;", "max.relu.s32 %s32_0, %s32_1, %s32_2;", "fns.b32 %b32_0, %b32_1, %b32_2, %s32_3;",
    "setp.lt.and.bf16 %pred_0, %b16_1, %b16_2, %pred_3;", "set.lt.bf16.f32 %b16_0, %f32_1, %f32_2;",
    "set.leu.u32.f16 %u32_0, %f16_1, %f16_2;", "cvt.rn.bf16.f32 %b16_0, %f32_1;",
    "cvt.rn.satfinite.e4m3x2.f32 %b16_0, %f32_1, %f32_2;", "cvt.rna.tf32.f32 %b32_0, %f32_1;",
    "cvt.rn.relu.f16.f32 %f16_0, %f32_1;",
    "ld.global.L1::evict_last.L2::128B.v4.u32 {%u32_0, %u32_1, %u32_2, %u32_3}, [%b64_4];",
    "ld.mmio.relaxed.sys.global.u32 %u32_0, [%b64_4];", "ld.relaxed.cluster.shared::cluster.u32 %u32_0, [%b64_4];",
    "st.global.L1::no_allocate.u32 [%b64_4], %u32_0;", "ld.param::entry.u32 %u32_0, [sample_parameter];",
    "atom.global.v2.f32.add {%f32_0, %f32_1}, [%b64_4], {%f32_2, %f32_3};",
    "atom.acquire.cluster.global.add.u32 %u32_0, [%b64_4], 1;", "red.cluster.global.add.u32 [%b64_4], 1;",
    "fence.acquire.gpu;", "fence.proxy.alias;", "elect.sync %u32_0|%pred_1, -1;", "barrier.cluster.arrive;",
    "griddepcontrol.wait;", "brkpt;", "pmevent 1;", "alloca.u64 %u64_0, 16;", "prefetch.global.L1 [%b64_4];",
    "prefetchu.L1 [%b64_4];", "applypriority.global.L2::evict_normal [%b64_4], 128;", "discard.global.L2 [%b64_4], 128;",
    "createpolicy.fractional.L2::evict_last.b64 %b64_0, 0.5;", "mapa.u64 %u64_0, %u64_1, %u32_2;",
    "tex.1d.v4.f32.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, [%u64_1, {%f32_4}];",
    "suld.b.1d.b32.trap %b32_0, [%u64_1, {%u32_2}];", "vadd.u32.u32.u32 %u32_0, %u32_1, %u32_2;",
    "vadd4.u32.u32.u32 %u32_0, %u32_1, %u32_2, %u32_3;",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f64_0, %f64_1}, {%f64_2}, {%f64_3}, {%f64_0, %f64_1};",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b32_0}, [%b64_4];", "cp.async.ca.shared.global [%b64_4], [%b64_5], 16;",
    "cp.async.wait_all;", "cp.async.bulk.wait_group 0;", "mbarrier.init.shared.b64 [%b64_4], 1;",
    "mbarrier.try_wait.shared.b64 %pred_0, [%b64_4], %b64_1;", "mov.b32 %b32_0, %envreg31;",
    "mov.u32 %u32_0, %cluster_ctaid.x;", "mov.u64 %u64_0, %pm7_64;",
    "mbarrier.try_wait.parity.shared::cta.b64 %pred_0, [%b64_4], %b32_1;",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%b64_4], %b32_1;",
    "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %pred_0, [%b64_4], %b32_1;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%b64_4], [%b64_5], 16, [%b64_3], "
    "%b16_1;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%b64_4], [%b64_5, "
    "{%s32_1, %s32_2}], [%b64_3], %b64_2;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%b64_4], [%b64_5], 16;",
    "ldmatrix.sync.aligned.x4.trans.m8n8.shared::cta.b16 {%b32_0, %b32_1, %b32_2, %b32_3}, [%b64_4];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%b64_4], {%b32_0};", "movmatrix.sync.aligned.m8n8.trans.b16 %b32_0, %b32_1;",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%b32_0, %b32_1}, {%b32_2}, {%b32_3}, {%b32_4, %b32_5};",
    "wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%f64_0}, [%b64_4], %b32_1;",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_0, %b32_1, %b32_2, "
    "%b32_3}, {%b32_4, %b32_5}, {%b32_0, %b32_1, %b32_2, %b32_3};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, {%b32_0, "
    "%b32_1}, {%b32_2, %b32_3}, {%f32_0, %f32_1, %f32_2, %f32_3}, %b32_5, 0;",
    "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v2.bf16x2 {%b32_0, %b32_1}, [%b64_4];",
    "multimem.red.global.max.u64 [%b64_4], %u64_0;",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%b64_4], %u32_0, [%b64_5];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%b64_4], {%b32_0, %b32_1}, [%b64_5];",
    "fence.proxy.async.shared::cta;", "fence.proxy.tensormap::generic.acquire.sys [%b64_4], 128;",
    "tld4.r.2d.v4.f32.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, [%u64_1, {%f32_4, %f32_5}];", "txq.width.b32 %b32_0, [%u64_1];",
    "sured.b.2d.add.u32.clamp [%u64_1, {%s32_4, %s32_5}], %u32_0;",
    "vmad.s32.u32.s32.sat.shr7 %s32_0, %u32_1, %s32_2, %s32_3;", "vset4.u32.s32.lt.add %u32_0, %u32_1, %s32_2, %u32_3;",
    "cvt.pack.sat.s8.s32.b32 %b32_0, %s32_1, %s32_2, %b32_3;", "barrier.cluster.wait.acquire.aligned;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%b64_4], [%b64_5], 128;",
};
// ... and what only a target with a suffix has.
struct Refused {
  std::string target, instruction;
};
Refused const kSpecific[] = {
    {"90a", "wgmma.fence.sync.aligned;"},
    {"90a", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f32_0, %f32_1, %f32_2, %f32_3}, %b64_0, %b64_1, 1, 1, 1, 0, "
     "0;"},
    {"90a", "setmaxnreg.inc.sync.aligned.u32 64;"},
    {"90a", "tensormap.replace.tile.global_address.global.b1024.b64 [%b64_4], %b64_1;"},
    {"100a", "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%b32_0, %b32_1, %b32_2, %b32_3}, [%b32_4];"},
    {"100a", "tcgen05.wait::ld.sync.aligned;"},
    {"100a", "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b64_4];"},
    {"100a", "tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%b32_0], %b64_1, %b64_2, %b32_3, %pred_1;"},
    {"100a", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
     "[%b64_4], [%b64_5];"},
    {"120a", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, {%b32_0, "
     "%b32_1, %b32_2, %b32_3}, {%b32_4, %b32_5}, {%f32_0, %f32_1, %f32_2, %f32_3};"},
};

std::string text_for(std::string const& target, std::string const& instruction) {
  std::string head = sample_head(90);
  return head.replace(head.find("sm_90"), 5, "sm_" + target) + instruction + "\n" + sample_tail();
}

// The line of this number, from 1.
std::string line_of(std::string const& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

std::vector<Refused> only_refused() {
  std::vector<Refused> all(std::begin(kSpecific), std::end(kSpecific));
  for (char const* const one : kOnlyRefused) all.push_back({"90", one});
  return all;
}

TEST(Oracle, TakesWhatIsOnlyRefused) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  std::map<std::string, std::string> all;  // by target, each in an entry of its own
  for (auto const& [target, instruction] : only_refused()) {
    auto const parsed = parse(text_for(target, instruction));
    ASSERT_EQ(parsed.index(), 0u) << instruction << std::get<1>(parsed).to_string();
    EXPECT_TRUE(std::get<0>(parsed)->find_entry("sample")->refusal) << instruction;
    std::string& text = all[target];
    text += sample_next(static_cast<unsigned>(text.size())) + instruction + "\n";
  }
  for (auto const& [target, instructions] : all) {
    std::string const text = text_for(target, instructions);
    auto const said = complaint(text);
    EXPECT_EQ(said, "") << target;
    for (int const line : lines_of(said)) ADD_FAILURE() << line_of(text, line);
  }
}

TEST(Oracle, RejectsWhatOnlyTargetsWithASuffixHave) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  for (auto const& [target, instruction] : kSpecific) {
    auto const text = text_for(target.substr(0, target.size() - 1), instruction);
    EXPECT_FALSE(loads(text)) << instruction;
    EXPECT_NE(complaint(text), "") << instruction;
  }
}

std::vector<std::string> words_of(std::string const& instruction) {
  std::vector<std::string> words(1);
  for (char const c : instruction.substr(0, instruction.find_first_of(" ;"))) {
    if (c == '.') words.emplace_back();
    else words.back() += c;
  }
  return words;
}

std::string with_words(std::vector<std::string> const& words, std::string const& instruction) {
  std::string name = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) name += "." + words[i];
  return name + instruction.substr(instruction.find_first_of(" ;"));
}

// The same words with the one at `i` doubled, left out, exchanged with the next one, or replaced.
std::vector<std::vector<std::string>> changes_of(std::vector<std::string> const& words, std::size_t i) {
  auto const at = static_cast<std::ptrdiff_t>(i);
  std::vector<std::vector<std::string>> all(3, words);
  all[0].insert(all[0].begin() + at, words[i]);
  all[1].erase(all[1].begin() + at);
  if (i + 1 < words.size()) std::swap(all[2][i], all[2][i + 1]);
  for (char const* const other :
       {"aligned", "sat", "ftz", "f32", "u32", "b64", "v4", "row", "global", "shared", "m8n8", "x2", "add"}) {
    all.push_back(words);
    all.back()[i] = other;
  }
  return all;
}

// A complaint less its lines about operands, which we do not look at where we refuse an instruction.
std::string without_operands(std::string const& complaint) {
  std::istringstream lines(complaint);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    auto const says = [&line](char const* what) { return line.find(what) != line.npos; };
    bool const of_operands =
        says("rgument") || says("vector expected") || says("Boolean operation") || says(".sp modifier required");
    if (says("; error") && !of_operands) rest += line + "\n";
  }
  return rest;
}

// Whatever loads after such a change is PTX; what has a word twice never loads.
TEST(Oracle, RejectsWrongModifiersOfWhatIsOnlyRefused) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  int rejected = 0;
  std::map<std::string, std::string> loading;  // by target
  for (auto const& [target, instruction] : only_refused()) {
    auto const words = words_of(instruction);
    for (std::size_t i = 1; i < words.size(); ++i) {
      auto const changes = changes_of(words, i);
      EXPECT_FALSE(loads(text_for(target, with_words(changes[0], instruction)))) << with_words(changes[0], instruction);
      for (auto const& change : changes) {
        auto const changed = with_words(change, instruction);
        if (changed == instruction) continue;
        if (loads(text_for(target, changed))) loading[target] += changed + "\n";
        else ++rejected;
      }
    }
  }
  EXPECT_GT(rejected, 3000);
  for (auto const& [target, instructions] : loading) {
    EXPECT_EQ(without_operands(complaint(text_for(target, instructions))), "") << target << "\n" << instructions;
  }
}

// The first lines in which two texts differ.
std::string difference(std::string const& before, std::string const& after) {
  std::size_t const at = static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
  std::size_t const begin = before.rfind('\n', at) + 1;
  auto const line = [&](std::string const& text) {
    return text.substr(begin, text.find('\n', std::min(at, text.size())) - begin);
  };
  return line(before) + "\n" + line(after) + "\n";
}

// One token of a kernel is changed, dropped or doubled.
std::string mutated(std::string text, std::mt19937& random) {
  auto const pick = [&](std::size_t count) { return static_cast<std::size_t>(random()) % count; };
  std::size_t const body = text.find(".entry");
  std::size_t at = body + pick(text.size() - body);
  at = std::min(text.find_first_of(" \t,.;[]%", at), text.size() - 2);
  std::size_t const end = std::min(text.find_first_of(" \t,.;[]%\n", at + 1), text.size());
  static constexpr std::string_view kPieces[] = {".s32",    ".f32",  ".u64", ".sat",        ".rn", ".ftz", " %r1", " %rd1",
                                                 " %f1",    " %p1",  ";",    ",",           "",    " 5",   ".v2",  "[",
                                                 ".global", ".wide", ".b16", " 0f00000000", "+4"};
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
INSTANTIATE_TEST_SUITE_P(Oracle, OracleOf,
                         testing::Values("faults", "histogram", "identity", "matmul", "reduce", "saxpy", "scan", "softmax",
                                         "transpose"),
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
        else if (said.empty())
          std::printf("only here: %s\n%s\n", std::get<1>(parse(broken)).to_string().c_str(), difference(text, broken).c_str());
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
