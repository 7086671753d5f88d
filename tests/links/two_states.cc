// A program that keeps its symbols to itself opens a plugin which links the core again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

#if LINKS_SHARED

TEST(Rule9, ASharedCoreNeedsNoExports) {
  Printed::get().set_filter("info");
  Plugin const plugin(PLUGIN_THAT_LINKS);
  testing::internal::CaptureStderr();
  plugin.run();
  EXPECT_THAT(Printed::get().take(), HasSubstr("plugin_that_links: the plugin speaks\n"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
}

#else

// One process, one report: so there is one test.
TEST(Rule9, ASecondCopyIsToldOnceAndNotSuffered) {
  testing::internal::CaptureStderr();
  Printed::get().set_filter("info");
  TRACE_INFO("first");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty()) << "there is one copy yet";

  testing::internal::CaptureStderr();
  {
    Plugin const plugin(PLUGIN_THAT_LINKS);
    for (int i = 0; i < 3; ++i) plugin.run();
  }
  std::string const report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.find("tracing: two copies of tracing::core are loaded"), 0u) << report;
  EXPECT_EQ(report.find('\n'), report.size() - 1) << report;
  EXPECT_THAT(report, AllOf(HasSubstr("links_two_states"), HasSubstr(PLUGIN_THAT_LINKS), HasSubstr("ENABLE_EXPORTS")));

  // What the plugin records goes nowhere; the program's own goes on.
  TRACE_INFO("last");
  EXPECT_THAT(Printed::get().take(), AllOf(HasSubstr("first\n"), HasSubstr("last\n"), testing::Not(HasSubstr("speaks"))));
  Printed::get().set_filter("debug");
}

#endif

}  // namespace
