// Checks the records that the statements in this folder's other files emit, each compiled in its own way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hygiene/header.h"
#include "tests/hygiene/hygiene.h"
#include "tests/hygiene/places.h"
#include "tests/support/recording_subscriber.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tracing_test::Recording;
using Lines = std::vector<std::string>;

// Returns the lines that `f` emits for new spans and events.
template <class F>
Lines emitted_by(F f) {
  Recording const recording;
  f();
  Lines lines = recording->take();
  std::erase_if(lines, [](std::string const& line) { return !line.starts_with("new") && !line.starts_with("event"); });
  return lines;
}

// Returns the lines of every_statement.inc in `function`.
Lines every_statement(std::string const& function) {
  return {"new 1 scope number=7",
          "new 2 " + function + " number=7",
          "new 3 perf number=7",
          "new 4 perf number=7",
          "new 5 perf number=7",
          "event DEBUG hygiene \"measured 7\"",
          "new 6 perf number=7",
          "event DEBUG hygiene \"enabled\"",
          "new 7 annotation number=7",
          "new 8 annotation number=7",
          "new 9 step step_num=7",
          "new 10 handle number=7",
          "event ERROR hygiene \"error 7\"",
          "event WARN hygiene \"warn 7\"",
          "event INFO hygiene \"info 7\"",
          "event DEBUG hygiene \"debug 7\"",
          "event TRACE hygiene \"trace 7\"",
          "event DEBUG hygiene \"log 7\"",
          "event WARN hygiene number=7",
          "event INFO hygiene \"enabled\""};
}

TEST(Hygiene, HostileNamesBeforeTheHeader) {
  Lines lines = emitted_by([] { hygiene::hostile_names_before(7); });
  EXPECT_EQ(lines.back(), "event INFO hygiene pair=Pair { first: 7, second: 0 } mode=Some");
  lines.pop_back();
  EXPECT_EQ(lines, every_statement("hostile_names_before"));
}

TEST(Hygiene, HostileNamesAfterTheHeader) {
  EXPECT_EQ(emitted_by([] { hygiene::hostile_names_after(7); }), every_statement("hostile_names_after"));
}

TEST(Hygiene, NamesOfHelpers) {
  EXPECT_THAT(emitted_by(hygiene::names_of_helpers),
              ElementsAre("new 1 scope kv=1 empty=2 display=3 debug=4 pretty=5 target=6 parent=7 level=8",
                          "new 2 names_of_helpers kv=1 other=12", "new 3 handle root span=9",
                          "event INFO own \"9 10\" text=11 n=12 callsite=13 args=14 statement=15",
                          "event DEBUG hygiene \"16\" trace=16 info=17 shown=x",
                          "event INFO hygiene trace=16 info=17 debug=4", "event INFO hygiene \"enabled\""));
}

TEST(Hygiene, WithoutShortMacros) {
  Lines lines = emitted_by([] { hygiene::without_short_macros(7); });
  EXPECT_EQ(lines.back(), "event INFO hygiene point=Point { x: 1, y: 2 } mode=fast");
  lines.pop_back();
  EXPECT_EQ(lines, every_statement("without_short_macros"));
}

TEST(Hygiene, TargetOfAFile) {
  EXPECT_THAT(
      emitted_by([] { hygiene::with_own_target(7); }),
      ElementsAre("new 1 scope n=7", "event INFO own::target \"event\" n=7", "event INFO of the statement \"other\""));
}

TEST(Hygiene, HeadersIncludedTwice) {
  Lines const expected{"new 1 in_inline_function n=7",
                       "event INFO hygiene \"inline\" n=7",
                       "new 2 template x=7",
                       "event INFO hygiene \"7\"",
                       "new 3 template x=\"text\"",
                       "event INFO hygiene \"text\"",
                       "event INFO hygiene::InClass \"made\" n=7",
                       "new 4 work n=7 address=0x0",
                       "event INFO hygiene::InClass \"gone\" n=7"};
  EXPECT_EQ(emitted_by([] { hygiene::through_header(7); }), expected);
  EXPECT_EQ(emitted_by([] { hygiene::use_header(7); }), expected);
}

TEST(Hygiene, InlineFunctionsHaveOneCallsite) {
  Recording const recording;
  hygiene::through_header(1);
  std::size_t const registered = recording->registered().size();
  EXPECT_GT(registered, 0U);
  hygiene::use_header(1);
  EXPECT_EQ(recording->registered().size(), registered);
}

TEST(Hygiene, WithoutExceptionsAndTypeInformation) {
  for (auto const function : {hygiene::without_exceptions, hygiene::without_type_information, hygiene::without_both}) {
    Lines lines = emitted_by([function] { function(7); });
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_THAT(lines[0], HasSubstr(" n=7"));
    EXPECT_EQ(lines[1], "new 2 scope point=Point { x: 7, y: 2 }");
    EXPECT_EQ(lines[2], "event INFO hygiene \"[\"a\", \"b\"] 7\" n=7 failure=it failed code=Connection timed out");
    EXPECT_EQ(lines[3], "new 3 handle");
    EXPECT_THAT(lines[4], HasSubstr("\"inside\""));
  }
}

TEST(Place, BranchesWithoutBraces) {
  EXPECT_THAT(emitted_by([] { EXPECT_EQ(hygiene::dangling_else(true, false), 1); }),
              ElementsAre("event INFO hygiene \"first\"", "event INFO hygiene first=true",
                          "event DEBUG hygiene \"in a loop without braces\"", "event TRACE hygiene \"enabled\""));
  EXPECT_THAT(emitted_by([] { EXPECT_EQ(hygiene::dangling_else(false, true), 1); }),
              ElementsAre("event INFO hygiene \"not first\"", "event WARN hygiene \"second\"",
                          "event DEBUG hygiene \"in a loop without braces\"", "event TRACE hygiene \"enabled\""));
  EXPECT_THAT(emitted_by([] { EXPECT_EQ(hygiene::dangling_else(false, false), 0); }),
              ElementsAre("event INFO hygiene \"not first\""));
}

TEST(Place, SeveralOnALine) {
  EXPECT_THAT(
      emitted_by([] { hygiene::two_on_a_line(7); }),
      ElementsAre("new 1 a n=7", "new 2 b n=7", "new 3 two_on_a_line", "event INFO hygiene \"x\"",
                  "event INFO hygiene \"y\"", "new 4 c", "new 5 d", "new 6 e", "event INFO hygiene \"z\" both=true"));
}

TEST(Place, EnabledInInitialisersOfConstants) {
  emitted_by([] { EXPECT_TRUE(hygiene::enabled_as_constant()); });
  EXPECT_FALSE(hygiene::enabled_as_constant());
}

TEST(Place, SwitchesAndLoops) {
  EXPECT_THAT(emitted_by([] { hygiene::in_switch(0); }), ElementsAre("event INFO hygiene \"zero\""));
  EXPECT_THAT(emitted_by([] { hygiene::in_switch(1); }), ElementsAre("new 1 one", "event INFO hygiene \"one\""));
  EXPECT_THAT(emitted_by([] { hygiene::in_switch(2); }),
              ElementsAre("event INFO hygiene \"two\"", "event INFO hygiene \"default\""));
  Recording const recording;
  hygiene::in_loops(3);
  EXPECT_THAT(recording->take(), ElementsAre("new 1 step i=0", "enter 1", "exit 1", "close 1", "new 2 step i=1",
                                             "enter 2", "event INFO hygiene \"step 1\"", "exit 2", "close 2"));
}

TEST(Place, Lambdas) {
  EXPECT_THAT(
      emitted_by([] { hygiene::in_lambdas(7); }),
      ElementsAre("new 1 in_lambdas n=7", "event INFO hygiene \"in a lambda\" n=7", "new 2 generic x=7",
                  "event INFO hygiene \"7\" count=0", "new 3 generic x=\"text\"", "event INFO hygiene \"text\" count=2",
                  "event INFO hygiene \"1.5\" n=7", "event INFO hygiene \"\" i=0", "event INFO hygiene \"1\"",
                  "new 4 inside an argument", "event INFO hygiene \"1\""));
}

TEST(Place, Templates) {
  EXPECT_THAT(emitted_by([] { hygiene::in_templates(7); }),
              ElementsAre("event INFO hygiene::Box \"made\" x=7", "new 1 compare x=7 y=2.5",
                          "event INFO hygiene::Box \"7 2.5\"", "event INFO hygiene::Box \"made\" x=\"text\"",
                          "new 2 compare x=\"text\" y=\"other\"", "event INFO hygiene::Box \"text other\"",
                          "new 3 shared x=7", "new 4 pack count=3", "new 5 each x=7", "new 6 each x=2",
                          "new 7 each x=3", "event INFO hygiene \"sum 12\" all=(7, 2, 3)", "new 8 pack count=2",
                          "new 9 each x=\"a\"", "new 10 each x=\"b\"",
                          "event INFO hygiene \"sum ab\" all=(\"a\", \"b\")", "event INFO hygiene \"3\""));
}

TEST(Place, MacrosOfTheUser) {
  EXPECT_THAT(emitted_by([] { hygiene::in_user_macros(0); }),
              ElementsAre("event INFO hygiene \"calling in_switch\" n=0", "event INFO hygiene \"zero\"",
                          "new 1 by a macro", "event INFO hygiene \"of 0\" answer=42"));
}

TEST(Place, ConstantExpressions) {
  EXPECT_THAT(emitted_by(hygiene::in_constant_expressions),
              ElementsAre("event INFO hygiene \"\" size=3", "new 1 sum_below n=2", "new 2 step i=0",
                          "event TRACE hygiene \"added 0\" total=0", "new 3 step i=1",
                          "event TRACE hygiene \"added 1\" total=1", "event TRACE hygiene total=1",
                          "event INFO hygiene \"1\""));
}

TEST(Place, AfterALabel) {
  EXPECT_THAT(emitted_by([] { hygiene::after_a_label(2); }),
              ElementsAre("event INFO hygiene \"again\" n=2", "event INFO hygiene \"again\" n=1"));
}

TEST(Place, NoexceptFunctions) {
  EXPECT_THAT(emitted_by([] { hygiene::in_noexcept_function(7); }),
              ElementsAre("new 1 in_noexcept_function n=7", "event INFO hygiene \"no throw\" n=7", "new 2 handle"));
}

TEST(Place, BlocksLeftByAnException) {
  Recording const recording;
  hygiene::in_try_blocks(7);
  EXPECT_THAT(recording->take(),
              ElementsAre("new 1 tried n=7", "enter 1", "exit 1", "close 1", "event INFO hygiene \"caught\" caught=7"));
}

TEST(Place, StaticInitialisersAndDestructors) {
  EXPECT_FALSE(hygiene::enabled_in_static_initialiser());
  EXPECT_THAT(emitted_by([] { hygiene::EmitsGoodbye const temporary; }),
              ElementsAre("new 1 ~EmitsGoodbye", "event INFO hygiene::EmitsGoodbye \"gone\""));
}

TEST(Argument, IsEvaluatedOnceIfEnabledAndNeverOtherwise) {
  Recording recording;
  EXPECT_EQ(hygiene::evaluations_of_each_statement(), 6);
  {
    tracing::ScopedDefault const no_subscriber(nullptr);
    EXPECT_EQ(hygiene::evaluations_of_each_statement(), 0);
  }
  recording->set_dynamic(false);
  tracing::rebuild_interest();
  EXPECT_EQ(hygiene::evaluations_of_each_statement(), 0);
  recording->set_dynamic(true);
  EXPECT_EQ(hygiene::evaluations_of_each_statement(), 6);
}

TEST(Argument, CanBeOfAnyKind) {
  EXPECT_THAT(
      emitted_by(hygiene::argument_kinds),
      ElementsAre("event INFO hygiene bits.low=5 bits.high=-3 bits.flag=true",
                  "event INFO hygiene changing=1 reference=1",
                  "event INFO hygiene mine=MoveOnly { n: 7 } moved=MoveOnly { n: 7 } made=MoveOnly { n: 8 }",
                  "event INFO hygiene fixed=NeitherCopiedNorMoved { n: 3 } made=NeitherCopiedNorMoved { n: 3 }",
                  "event INFO hygiene owned=9 known=true", "event INFO hygiene errno=2",
                  "event INFO hygiene one=1 two=\"two\"", "event INFO hygiene \"raw, \"quoted\" inside ),( it \\n\"",
                  "event INFO hygiene \"1 false true\"", "event INFO hygiene \"{1: (2, 3)}\" comma=(1, \",\")",
                  "event INFO hygiene \"a comma, in (the \"message\")\" a,b=\",\" (=\"(\"",
                  "event INFO hygiene converts=\"converted\"",
                  "event INFO hygiene precise=1.5 byte=200 small=-3 narrow=-4 wide=119 utf16=120",
                  "event INFO hygiene letters=\"abcd\" is=\"yes\""));
}

TEST(Variable, CausesNoWarningIfOnlyTracingUsesIt) {
  EXPECT_THAT(
      emitted_by([] { hygiene::only_for_tracing(7); }),
      ElementsAre("new 1 scope n=7", "event INFO hygiene \"\" sum=7", "new 2 only_for_tracing record.unused=7"));
}

}  // namespace
