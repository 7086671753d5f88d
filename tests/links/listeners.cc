// testlog is linked into a program and into a library of it, and must act once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <string_view>

namespace {

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(SharedState, TestlogInProgramAndLibraryActsOnce) {
  if (LINKS_COPIES)
    GTEST_SKIP() << "optimised at link time, a static testlog that is linked again is a copy of its own";
  std::string text;
  FILE* const pipe = popen("TRACE_TIME=none " TESTED " 2>&1", "r");
  ASSERT_NE(pipe, nullptr);
  char bytes[4096];
  while (std::size_t const size = fread(bytes, 1, sizeof(bytes), pipe)) text.append(bytes, size);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 1) << text;
  // The lines that are shown while the test runs, and its failures, appear again in the report of its failure.
  EXPECT_EQ(count(text, " INFO outermost: helper: helper\n"), 2) << text;
  EXPECT_EQ(count(text, "its .fail_on is error"), 2) << text;
  EXPECT_EQ(count(text, "DEBUG outermost: helper: records seen by the helper: 2\n"), 1) << text;
  EXPECT_EQ(count(text, "    in outermost\n"), 1) << text;
  EXPECT_EQ(count(text, "---- Tested.Fails"), 1) << text;
}

}  // namespace
