// Against ptxas, where the toolkit is: what it rejects never runs, and each form that we accept is one that it takes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "cuda_tests/ptx/forms.h"
#include "cuda_tests/ptx/parse.h"
#include "cuda_tests/ptx/sample_text.h"

namespace cuda_tests::ptx {
namespace {

std::filesystem::path work_file(std::string const& name) {
  return std::filesystem::temp_directory_path() / ("cuda_tests_ptx_" + std::to_string(getpid()) + "_" + name);
}

bool has_ptxas() { return std::string_view(TESTLOG_PTXAS) != ""; }

// What ptxas prints about a text; empty where it takes it.
std::string complaint(std::string const& text, unsigned target) {
  auto const source = work_file("in.ptx"), log = work_file("log");
  std::ofstream(source) << text;
  std::string const command = std::string(TESTLOG_PTXAS) + " -O0 -arch=sm_" + std::to_string(target) + " " + source.string() + " -o /dev/null >" + log.string() + " 2>&1";
  int const status = std::system(command.c_str());
  std::ifstream file(log);
  std::string said{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(source);
  std::filesystem::remove(log);
  return status == 0 ? "" : "ptxas: " + said;
}

// Whether any entry of a text would run.
bool runs(std::string const& text) {
  auto const parsed = parse(text);
  auto const* const module = std::get_if<0>(&parsed);
  if (module == nullptr) return false;
  for (auto const& function : (*module)->functions())
    if (function.is_entry && function.refusal) return false;
  return true;
}

TEST(Oracle, TakesEachFormOfTheTable) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: forms are not compared";
  struct Case {
    unsigned target, version;
    char const* text;
  };
  for (auto const& [target, version, number] : std::initializer_list<Case>{{75, 63, "6.3"}, {75, 70, "7.0"}, {80, 70, "7.0"}, {75, 90, "9.0"}, {90, 90, "9.0"}}) {
    std::string text = sample_head(target, number);
    for (auto const* const form : all_forms())
      if (form->minimal_target <= target && form->minimal_version <= version) text += sample_instruction(*form) + "\n";
    EXPECT_EQ(complaint(text + sample_tail(), target), "") << number;
  }
}

// One token of a kernel is changed, dropped or doubled.
std::string mutated(std::string text, std::minstd_rand& random) {
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

TEST(Oracle, WhatItRejectsNeverRuns) {
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas here: broken texts are not compared";
  std::minstd_rand random(3);
  int accepted = 0;
  for (std::string const name : {"saxpy.75", "identity.75", "reduce.90", "faults.75"}) {
    std::ifstream file(TESTLOG_TEST_DIR "/../executor/testdata/" + name + ".ptx");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_TRUE(runs(text)) << name;
    for (int i = 0; i < TESTLOG_MUTATIONS; ++i) {
      auto const broken = mutated(text, random);
      if (!runs(broken)) continue;
      ++accepted;
      auto const said = complaint(broken, 90);
      ASSERT_EQ(said, "") << broken;
    }
  }
  RecordProperty("accepted", accepted);
}

}  // namespace
}  // namespace cuda_tests::ptx
