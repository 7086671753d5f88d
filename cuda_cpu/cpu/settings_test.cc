#include "cuda_cpu/cpu/settings.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace cuda_cpu::cpu { namespace {

using namespace std::chrono_literals;

std::map<std::string, std::string, std::less<>> set_to;

CpuDriverOptions read(std::map<std::string, std::string, std::less<>> values, std::string& reports) {
  set_to = std::move(values);
  auto const get = [](char const* name) -> char const* {
    auto const found = set_to.find(name);
    return found == set_to.end() ? nullptr : found->second.c_str();
  };
  return with_environment({.timeout = 7s}, get, reports);
}
CpuDriverOptions read_well(std::map<std::string, std::string, std::less<>> values) {
  std::string reports;
  auto const options = read(std::move(values), reports);
  EXPECT_EQ(reports, "");
  return options;
}
std::string reports_of(std::map<std::string, std::string, std::less<>> values) {
  std::string reports;
  read(std::move(values), reports);
  return reports;
}

TEST(Settings, TheTimeoutIsInSeconds) {
  EXPECT_EQ(read_well({}).timeout, 7s);
  EXPECT_EQ(read_well({{"TRACE_CUDA_TIMEOUT", ""}}).timeout, 7s);
  EXPECT_EQ(read_well({{"TRACE_CUDA_TIMEOUT", "0.25"}}).timeout, 250ms);
  EXPECT_EQ(read_well({{"TRACE_CUDA_TIMEOUT", "off"}}).timeout, 0s);
}

TEST(Settings, TheTimeoutOfATestIsThatOfItsKernels) {
  std::string reports;
  set_to = {{"TRACE_HANG_AFTER_DEFAULT", "48"}};
  auto const get = [](char const* name) -> char const* {
    auto const found = set_to.find(name);
    return found == set_to.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(with_environment({}, get, reports).timeout, 48s);
  EXPECT_EQ(read_well(set_to).timeout, 7s) << "the program's own";
  set_to["TRACE_CUDA_TIMEOUT"] = "off";
  EXPECT_EQ(with_environment({}, get, reports).timeout, 0s);
  set_to = {{"TRACE_HANG_AFTER_DEFAULT", "soon"}};
  EXPECT_EQ(with_environment({}, get, reports).timeout, 0s);
  EXPECT_EQ(reports, "");
}

TEST(Settings, TheMemoryIsInBytesOrWithAUnit) {
  EXPECT_EQ(read_well({}).memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(read_well({{"TRACE_CUDA_MEMORY", "4096"}}).memory_bytes, 4096u);
  EXPECT_EQ(read_well({{"TRACE_CUDA_MEMORY", "4G"}}).memory_bytes, std::uint64_t{4} << 30);
}

TEST(Settings, FramesAreADigit) {
  EXPECT_EQ(read_well({}).frames, 3u);
  EXPECT_EQ(read_well({{"TRACE_CUDA_FRAMES", "0"}}).frames, 0u);
  EXPECT_EQ(read_well({{"TRACE_CUDA_FRAMES", "8"}}).frames, 8u);
  for (char const* const bad : {"9", "-1", "33", "all"}) {
    EXPECT_EQ(reports_of({{"TRACE_CUDA_FRAMES", bad}}),
              std::string("testlog: TRACE_CUDA_FRAMES=") + bad + ": not a valid number; expected 0 to 8\n");
  }
}

TEST(Settings, TheStatusIsOnOrOff) {
  EXPECT_TRUE(read_well({}).changes_status);
  EXPECT_FALSE(read_well({{"TRACE_CUDA_STATUS", "off"}}).changes_status);
  EXPECT_EQ(reports_of({{"TRACE_CUDA_STATUS", "0"}}),
            "testlog: TRACE_CUDA_STATUS=0: unknown value; expected one of on, off\n");
}

TEST(Settings, ChecksAreAListOfWords) {
  auto const none = read_well({});
  EXPECT_FALSE(none.checks.any() || none.leak_check);
  EXPECT_EQ(none.stale_shuffle, StaleShuffle::fault_if_idx);
  auto const some = read_well({{"TRACE_CUDA_CHECK", "race, leak"}});
  EXPECT_TRUE(some.checks.race && some.leak_check);
  EXPECT_FALSE(some.checks.init || some.checks.sync);
  auto const others = read_well({{"TRACE_CUDA_CHECK", "init,sync,shuffle"}});
  EXPECT_TRUE(others.checks.init && others.checks.sync);
  EXPECT_FALSE(others.checks.init_shared);
  auto const shared = read_well({{"TRACE_CUDA_CHECK", "init_shared"}});
  EXPECT_TRUE(shared.checks.init_shared && !shared.checks.init);
  EXPECT_EQ(others.stale_shuffle, StaleShuffle::fault);
  EXPECT_EQ(read_well({{"TRACE_CUDA_CHECK", "zero_shuffle"}}).stale_shuffle, StaleShuffle::zero);
  auto const all = read_well({{"TRACE_CUDA_CHECK", "all"}});
  EXPECT_TRUE(all.checks.race && all.checks.init && all.checks.sync && all.leak_check);
  EXPECT_FALSE(all.checks.init_shared) << "correct kernels read what they do not use";
  EXPECT_EQ(all.stale_shuffle, StaleShuffle::fault);
}

TEST(Settings, BadValuesAreReportedAndIgnored) {
  EXPECT_EQ(reports_of({{"TRACE_CUDA_TIMEOUT", "5s"}}),
            "testlog: TRACE_CUDA_TIMEOUT=5s: not a valid time; expected seconds, or off\n");
  EXPECT_EQ(reports_of({{"TRACE_CUDA_MEMORY", "much"}}),
            "testlog: TRACE_CUDA_MEMORY=much: not a valid size; expected bytes, or 512M or 4G\n");
  std::string reports;
  auto const options = read({{"TRACE_CUDA_CHECK", "racy,init"}, {"TRACE_CUDA_TIMEOUT", "-1"}}, reports);
  EXPECT_TRUE(options.checks.init);
  EXPECT_FALSE(options.checks.race);
  EXPECT_EQ(options.timeout, 7s);
  EXPECT_EQ(reports,
            "testlog: TRACE_CUDA_TIMEOUT=-1: not a valid time; expected seconds, or off\n"
            "testlog: TRACE_CUDA_CHECK=racy,init: unknown value \"racy\"; expected one of race, init, init_shared, "
            "sync, leak, "
            "shuffle, zero_shuffle, all (did you mean race?)\n");
}

}}  // namespace cuda_cpu::cpu
