// A program that exports no symbols opens a plugin that links its own core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

#if LINKS_SHARED

TEST(SharedState, SharedCoreNeedsNoExportedSymbols) {
  Printed::get().set_filter("info");
  Plugin const plugin(PLUGIN_THAT_LINKS);
  testing::internal::CaptureStderr();
  plugin.run();
  EXPECT_THAT(Printed::get().take(), HasSubstr("plugin_that_links: the plugin speaks\n"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
}

#else

// One test, since the report appears once in a process.
TEST(SharedState, SecondCopyOfTheCoreIsReportedOnce) {
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

  // The plugin's records are lost; the program's are not affected.
  TRACE_INFO("last");
  EXPECT_THAT(Printed::get().take(),
              AllOf(HasSubstr("first\n"), HasSubstr("last\n"), testing::Not(HasSubstr("speaks"))));
  Printed::get().set_filter("debug");
}

#endif

}  // namespace
