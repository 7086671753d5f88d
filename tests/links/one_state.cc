// All parts that are linked or opened record into one state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parts.h"
#include "support.h"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Plugin const* opened;  // called by functions without arguments

std::string spoken_by(char const* plugin) {
  return " INFO in_program:in_outer{n=1}:in_middle{n=2}:in_plugin{name=\"" + std::string(plugin) +
         "\" ratio=0.5}: " + plugin + ": the plugin speaks\n";
}

std::string printed_with(char const* plugin) {
  Plugin const local(plugin);
  opened = &local;
  TRACE_SPAN(info, "in_program");
  outer([] { opened->run(); });
  return Printed::get().take();
}

TEST(SharedState, LibrariesAndPluginsShareOneSpanTree) {
  Printed::get().set_filter("info");
  EXPECT_EQ(printed_with(PLUGIN_OF_HOST),
            " INFO in_program:in_outer{n=1}: outer: outer\n" + spoken_by("plugin_of_host"));
}

TEST(SharedState, PluginThatLinksTheCoreSharesTheSpanTree) {
  if (LINKS_COPIES) GTEST_SKIP() << "optimised at link time, a static core that is linked again is a copy of its own";
  Printed::get().set_filter("info");
  testing::internal::CaptureStderr();
  EXPECT_THAT(printed_with(PLUGIN_THAT_LINKS), HasSubstr(spoken_by("plugin_that_links")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty()) << "no second copy is at work";
}

TEST(SharedState, OneFilterAppliesToAllParts) {
  Printed::get().set_filter("[in_plugin]=debug");
  std::string const text = printed_with(PLUGIN_OF_HOST);
  EXPECT_THAT(text, HasSubstr("plugin_of_host: in detail\n"));
  EXPECT_THAT(text, Not(HasSubstr("outer: outer")));
  Printed::get().set_filter("off");
  EXPECT_THAT(printed_with(PLUGIN_OF_HOST), IsEmpty());
  Printed::get().set_filter("outer=info");
  EXPECT_EQ(printed_with(PLUGIN_OF_HOST), " INFO in_outer{n=1}: outer: outer\n");
}

TEST(SharedState, ClosedPluginStaysLoadedIfItsCallsitesWereReached) {
  Printed::get().set_filter("debug");
  {
    Plugin const plugin(PLUGIN_OF_HOST);
    plugin.run();
  }
  EXPECT_TRUE(Plugin::is_loaded(PLUGIN_OF_HOST));
  Printed::get().set_filter("trace");  // visits every callsite
  tracing::rebuild_interest();
  int of_plugin = 0;
  tracing::visit_callsites(
      [](void* context, tracing::Metadata const& metadata) {
        *static_cast<int*>(context) += metadata.target() == "plugin_of_host";
      },
      &of_plugin);
  EXPECT_EQ(of_plugin, 3);
}

TEST(SharedState, ClosedPluginIsUnloadedIfNoCallsiteWasReached) {
  {
    Plugin const plugin(PLUGIN_NOT_REACHED);
    EXPECT_EQ(plugin.function<int()>("plugin_answer")(), 42);
    EXPECT_TRUE(Plugin::is_loaded(PLUGIN_NOT_REACHED));
  }
  EXPECT_FALSE(Plugin::is_loaded(PLUGIN_NOT_REACHED));
}

}  // namespace
