#include "tracing_core/format/style.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace tracing { namespace {

TEST(DecideColor, PrefersTheChoiceThenTheVariablesThenTheTerminal) {
  struct Case {
    ColorChoice choice;
    ColorEnvironment environment;
    bool colour;
  };
  using enum ColorChoice;
  Case const cases[] = {
      {automatic, {}, false},
      {automatic, {.is_terminal = true}, true},
      {automatic, {.no_color = "1", .is_terminal = true}, false},
      {automatic, {.no_color = "0", .is_terminal = true}, false},  // any text means no colour
      {automatic, {.no_color = "", .is_terminal = true}, true},    // empty means unset
      {automatic, {.clicolor_force = "1"}, true},
      {automatic, {.clicolor_force = "yes"}, true},
      {automatic, {.clicolor_force = "0"}, false},
      {automatic, {.clicolor_force = ""}, false},
      {automatic, {.clicolor_force = "0", .is_terminal = true}, true},
      {automatic, {.no_color = "1", .clicolor_force = "1"}, false},
      {automatic, {.no_color = "", .clicolor_force = "1"}, true},
      {always, {.no_color = "1"}, true},
      {always, {}, true},
      {never, {.clicolor_force = "1", .is_terminal = true}, false},
  };
  for (Case const& c : cases) {
    EXPECT_EQ(decide_color(c.choice, c.environment), c.colour) << "case " << &c - cases;
  }
}

TEST(DecideColor, ReadsTheVariablesOfTheProcess) {
  int const null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  unsetenv("NO_COLOR");
  unsetenv("CLICOLOR_FORCE");
  EXPECT_FALSE(decide_color(ColorChoice::automatic, null));
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(decide_color(ColorChoice::automatic, null));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(decide_color(ColorChoice::automatic, null));
  unsetenv("NO_COLOR");
  unsetenv("CLICOLOR_FORCE");
  close(null);
}

TEST(DecideColor, ChecksWhetherTheOutputIsATerminal) {
  int const terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "cannot open a pseudo-terminal";
  unsetenv("NO_COLOR");
  unsetenv("CLICOLOR_FORCE");
  EXPECT_TRUE(decide_color(ColorChoice::automatic, terminal));
  EXPECT_FALSE(decide_color(ColorChoice::never, terminal));
  close(terminal);
}

}}  // namespace tracing
