// The stack in the report of a fatal signal.
#include "testlog/stack_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testlog/testdata/run.h"

namespace {

using testing::ContainsRegex;
using testlog::testdata::run_dying;

std::string name_of(std::string_view mangled) {
  std::string name;
  testlog::append_function_name(mangled, [&name](std::string_view piece) { name += piece; });
  return name;
}

TEST(FunctionName, IsReadableIfItIsSimple) {
  EXPECT_EQ(name_of("main"), "main");
  EXPECT_EQ(name_of("_Z3runv"), "run");
  EXPECT_EQ(name_of("_ZN4pool4takeEi"), "pool::take");
  EXPECT_EQ(name_of("_ZNK4pool4Pool4sizeEv"), "pool::Pool::size");
  EXPECT_EQ(name_of("_ZN12_GLOBAL__N_116Dies_BySegv_Test8TestBodyEv"), "(anonymous namespace)::Dies_BySegv_Test::TestBody");
  EXPECT_EQ(name_of("_ZNSt6thread11_State_implI3FooE6_M_runEv"), "std::thread::_State_impl<...>");
  EXPECT_EQ(name_of("_ZZN4pool4takeEvENKUlvE_clEv"), "pool::take::{lambda}");
  EXPECT_EQ(name_of("_ZZN4pool4takeEvENK3$_0clEv"), "pool::take::{lambda}");
}

TEST(FunctionName, IsMangledOtherwise) {
  for (char const* const name : {"", "_Z", "_ZN", "_ZplRK1AS1_", "_ZN99shortE", "_ZN18446744073709551616xE", "_ZNKcvbEv", "_ZZN4pool4takeEvEN5Local3runEv"})
    EXPECT_EQ(name_of(name), name);
}

TEST(FatalSignal, ReportEndsWithTheStack) {
  EXPECT_THAT(run_dying("Dies.ByWildPointer").err,
              ContainsRegex("\n  the stack of the thread that died:\n"
                            "    #0 \\(anonymous namespace\\)::Dies_ByWildPointer_Test::TestBody "
                            "\\(testlog_scenarios\\+0x[0-9a-f]+\\)\n"
                            "---- end of captured records ----\n$"));
  EXPECT_THAT(run_dying("Dies.ByAbort").err, ContainsRegex(" \\(anonymous namespace\\)::Dies_ByAbort_Test::TestBody "));
}

TEST(FatalSignal, ReportFoldsRecursionsInTheStack) {
  EXPECT_THAT(run_dying("Dies.ByStackOverflow").err,
              ContainsRegex("    #1 \\(anonymous namespace\\)::eat_stack \\(testlog_scenarios\\+0x[0-9a-f]+\\), "
                            "[0-9]+ times\n---- end"));
}

TEST(FatalSignal, ReportHasTheStackOfTheThreadThatDied) {
  EXPECT_THAT(run_dying("Dies.OnAWorker").err, ContainsRegex("Dies_OnAWorker_Test::TestBody::\\{lambda\\} "));
}

}  // namespace
