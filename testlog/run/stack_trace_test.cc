// The stack in the report of a fatal signal.
#include "testlog/run/stack_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "testlog/run/function_name.h"
#include "testlog/testdata/run.h"

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::run_dying;

std::string name_of(std::string_view mangled) {
  std::string name;
  testlog::append_function_name(mangled, [&name](std::string_view piece) { name += piece; });
  return name;
}

TEST(FunctionName, HasNoArguments) {
  std::pair<char const*, char const*> const names[] = {
      {"main", "main"},
      {"_Z3runv", "run"},
      {"_ZL3runv", "run"},
      {"_ZN4pool4takeEi", "pool::take"},
      {"_ZNK4pool4Pool4sizeEv", "pool::Pool::size"},
      {"_ZN4pool4PoolC2Ev", "pool::Pool::Pool"},
      {"_ZN4pool4PoolD0Ev", "pool::Pool::~Pool"},
      {"_ZN12_GLOBAL__N_116Dies_BySegv_Test8TestBodyEv", "(anonymous namespace)::Dies_BySegv_Test::TestBody"},
      {"_ZN4pool4nameB5cxx11Ev", "pool::name"},
      {"_ZNSt6thread11_State_implI3FooE6_M_runEv", "std::thread::_State_impl<...>::_M_run"},
      {"_ZSt4sortIPiEvT_S1_", "std::sort<...>"},
      {"_ZN4PoolIiLi5EN3net4AddrEE4takeEv", "Pool<...>::take"},
      {"_ZN4PoolIXadL_Z3runvEEE4takeEv", "_ZN4PoolIXadL_Z3runvEEE4takeEv"},
      {"_ZN4PoolILN3net4ModeE1EE4takeEv", "Pool<...>::take"},
      {"_ZN4pool4PoolILNS_4ModeE1EE4takeEv", "pool::Pool<...>::take"},
      {"_ZN4PoolILPv0EE4takeEv", "Pool<...>::take"},
      {"_ZN4PoolIZ4mainEUlvE0_E4takeEv", "Pool<main::{lambda#2}>::take"},
      {"_ZN4PoolIJA5_KcFivEEE4takeEv", "Pool<...>::take"},
      {"_ZNK1XeqERKS_", "X::operator=="},
      {"_ZN1XclEv", "X::operator()"},
      {"_ZN1XixEm", "X::operator[]"},
      {"_ZNKSt6atomicIbEcvbEv", "std::atomic<...>::operator bool"},
      {"_ZnwmSt11align_val_t", "operator new"},
      {"_ZlsRSoRK1X", "operator<<"},
      {"_ZZN4pool4takeEvENKUlvE_clEv", "pool::take::{lambda#1}"},
      {"_ZZN4pool4takeEvENKUliE10_clEi", "pool::take::{lambda#12}"},
      {"_ZZN4pool4takeEvENK3$_0clEv", "pool::take::{lambda $_0}"},
      {"_ZZZN4pool4takeEvENKUlvE_clEvENKUlvE0_clEv", "pool::take::{lambda#1}::{lambda#2}"},
      {"_ZZN4pool4takeEvEN5Local3runEv", "pool::take::Local::run"},
      {"_ZNSt17_Function_handlerIFvvEZN6Server15process_requestEvEUlvE1_E9_M_invokeERKSt9_Any_data",
       "std::_Function_handler<Server::process_request::{lambda#3}>::_M_invoke"},
      {"_ZNSt17_Function_handlerIFvR6ServerEZNS0_3runEiEUlS1_E_E9_M_invokeERKSt9_Any_dataS1_",
       "std::_Function_handler<...::run::{lambda#1}>::_M_invoke"},
      {"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_iEEEEE6_M_runEv",
       "std::thread::_State_impl<main::{lambda#1}>::_M_run"},
      {"_ZSt10__invoke_rIvRZZ4mainENKUlvE_clEvEUlvE_JEET_", "std::__invoke_r<main::{lambda#1}::{lambda#1}>"},
      {"_ZN4PoolIZ3runvE3$_4E4takeEv", "Pool<run::{lambda $_4}>::take"},
  };
  for (auto const& [mangled, name] : names) EXPECT_EQ(name_of(mangled), name);
}

TEST(FunctionName, IsMangledIfItIsNotUnderstood) {
  for (char const* const name :
       {"", "_Z", "_ZN", "_ZN99shortE", "_ZN18446744073709551616xE", "_ZN4PoolI", "_ZN4PoolIL", "_ZN4PoolIS",
        "_ZN4PoolIUlE", "_ZN1Xcv1YEv", "_ZZN4pool4takeEvENKUlvE", "_ZZ", "_ZZZZZZZZ"})
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

TEST(FatalSignal, ReportHasTheFramesBelowThoseOfAnAssertion) {
  EXPECT_THAT(
      run_dying("Dies.InAComparison").err,
      ContainsRegex("    #0 \\(anonymous namespace\\)::Incomparable::operator== [^\n]+\n"
                    "(    #[0-9]+ testing::internal::[^\n]+\n)+"
                    "    #[0-9]+ \\(anonymous namespace\\)::Dies_InAComparison_Test::TestBody [^\n]+\n---- end"));
}

TEST(FatalSignal, ReportHasLinesOfTheSource) {
  if (access("/usr/bin/addr2line", X_OK) != 0) GTEST_SKIP() << "no addr2line";
  EXPECT_THAT(run_dying("Dies.ByWildPointer", {{"PATH", "/nowhere:/usr/bin"}}).err,
              ContainsRegex("    #0 [^\n]+\\) at /[^\n]+/testlog/testdata/dying_scenarios.cc:[0-9]+\n"));
  EXPECT_THAT(run_dying("Dies.ByWildPointer", {{"PATH", "/nowhere"}}).err, Not(HasSubstr(" at /")));
}

#if defined(__x86_64__)
TEST(FatalSignal, ReportSaysThatNoProcessCanHaveTheAddress) {
  EXPECT_THAT(run_dying("Dies.ByAnOverwrittenFramePointer").err,
              ContainsRegex("---- SIGBUS in [^\n]+\n"
                            "  access to an address that no process can have, as by an overwritten pointer\n"));
}
#endif

TEST(FatalSignal, ReportFoldsRecursionsInTheStack) {
  EXPECT_THAT(run_dying("Dies.ByStackOverflow").err,
              ContainsRegex("    #1 \\(anonymous namespace\\)::eat_stack \\(testlog_scenarios\\+0x[0-9a-f]+\\), "
                            "[0-9]+ times\n---- end"));
}

TEST(FatalSignal, ReportHasTheStackOfTheThreadThatDied) {
  EXPECT_THAT(run_dying("Dies.OnAWorker").err,
              ContainsRegex("Dies_OnAWorker_Test::TestBody::\\{lambda(#| \\$_)[0-9]+\\}[>: ]"));
}

}  // namespace
