#include "cuda_cpu/executor/call_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace cuda_cpu { namespace {

using ::testing::ContainsRegex;
using ::testing::StartsWith;

// As a function that a program calls.
[[gnu::noinline]] CallSite entry(std::size_t count) {
  CallSite site = callers_of(__builtin_frame_address(0), count);
  asm volatile("" ::: "memory");
  return site;
}
[[gnu::noinline]] CallSite inner(std::size_t count) {
  CallSite site = entry(count);
  asm volatile("" ::: "memory");
  return site;
}
[[gnu::noinline]] CallSite outer(std::size_t count) {
  CallSite site = inner(count);
  asm volatile("" ::: "memory");
  return site;
}
[[gnu::noinline]] CallSite with_longer_frame(std::size_t bytes) {
  auto* const memory = static_cast<char*>(__builtin_alloca(bytes));
  std::memset(memory, 0, bytes);
  asm volatile("" ::"r"(memory) : "memory");
  CallSite site = entry(2);
  asm volatile("" ::: "memory");
  return site;
}

TEST(CallSite, HasTheFramesThatWereAskedFor) {
  for (std::size_t const count : {0, 1, 3, 8, 9}) {
    CallSite const site = outer(count);
    std::size_t found = 0;
    while (found < CallSite::kMax && site.frames[found] != 0) ++found;
    EXPECT_EQ(found, std::min(count, CallSite::kMax));
  }
  EXPECT_TRUE(outer(0).empty());
}

TEST(CallSite, IsTheSameTheSecondTime) {
  CallSite sites[3];
  for (CallSite& site : sites) site = outer(8);
  EXPECT_EQ(sites[0].frames, sites[1].frames);
  EXPECT_EQ(sites[0].frames, sites[2].frames);
  std::thread([&] { EXPECT_EQ(outer(2).frames, outer(2).frames); }).join();
}

TEST(CallSite, NamesLinesFromTheInnermostOn) {
  CallSite const site = outer(3);
  std::string const text = site.text();
  EXPECT_THAT(text, ContainsRegex("^call_site_test\\.cc:[0-9]+ \\(from call_site_test\\.cc:[0-9]+, "
                                  "call_site_test\\.cc:[0-9]+\\)$"));
  EXPECT_EQ(text, site.text());
}

// A longer frame makes a known distance wrong.
TEST(CallSite, IsRightInFunctionsWhoseFramesGrow) {
  CallSite sites[5];
  std::size_t const bytes[] = {16, 4000, 16, 20000, 4000};
  for (int i = 0; i < 5; ++i) sites[i] = with_longer_frame(bytes[i]);
  for (CallSite const& site : sites) EXPECT_EQ(site.frames, sites[0].frames);
}

TEST(CallSite, NamesTheFileIfNoLineIsKnown) {
  CallSite site;
  site.frames[0] = 0x10;
  EXPECT_EQ(site.text(), "0x10");
  EXPECT_THAT(outer(1).text(), StartsWith("call_site_test.cc:"));
}

}}  // namespace cuda_cpu
