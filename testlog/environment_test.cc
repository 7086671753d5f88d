#include "testlog/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace testlog {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::map<std::string, std::string, std::less<>> set_to;

char const* get(char const* name) {
  auto const found = set_to.find(name);
  return found == set_to.end() ? nullptr : found->second.c_str();
}

Environment read(std::map<std::string, std::string, std::less<>> values, std::vector<std::string>* reports = nullptr) {
  set_to = std::move(values);
  std::vector<BadValue> bad;
  Environment environment = read_environment(get, bad);
  for (BadValue const& one : bad) {
    if (reports != nullptr) reports->push_back(one.report());
  }
  return environment;
}

TEST(Environment, HasTheDocumentedDefaults) {
  Environment const e = read({});
  EXPECT_FALSE(e.filter || e.filter_help || e.capture || e.capture_off || e.no_color || e.force_color);
  EXPECT_EQ(e.show, Show::live);
  EXPECT_EQ(e.format, tracing::FormatKind::full);
  EXPECT_EQ(e.span_events, tracing::SpanEvents::none);
  EXPECT_EQ(e.time, TimeStyle::utc);
  EXPECT_EQ(e.color, tracing::ColorChoice::automatic);
  EXPECT_EQ(e.output, "stderr");
  EXPECT_EQ(e.chrome + e.flame, "");
}

TEST(Environment, TakesEveryValueOfTheTable) {
  for (Variable const& variable : variables()) {
    std::string_view values = variable.values;
    if (values.find(' ') == values.npos || values.find("directives") != values.npos) continue;
    std::vector<std::string> reports;
    while (!values.empty()) {
      std::size_t const comma = std::min(values.find(", "), values.size());
      std::string const value(values.substr(0, comma));
      if (value.find(' ') == value.npos) read({{variable.name, value}}, &reports);
      values.remove_prefix(std::min(comma + 2, values.size()));
    }
    EXPECT_THAT(reports, IsEmpty());
  }
}

TEST(Environment, AddsSpanEventsUp) {
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "new,close"}}).span_events, tracing::SpanEvents::new_span | tracing::SpanEvents::close);
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "active, close"}}).span_events,
            tracing::SpanEvents::active | tracing::SpanEvents::close);
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "full"}}).span_events, tracing::SpanEvents::full);
}

TEST(Environment, ReportsEachBadValueWithWhatWouldBeRight) {
  std::vector<std::string> reports;
  Environment const e = read(
      {{"TRACE_SHOW", "alive"}, {"TRACE_TIME", "UTC"}, {"TRACE_SPAN_EVENTS", "new,clsoe"}, {"TRACE_COLOR", "\x1b[1m"}},
      &reports);
  EXPECT_THAT(
      reports,
      ElementsAre(
          "testlog: TRACE_SHOW=alive is none of live, failed, all, none; did you mean \"live\"? Using live.\n",
          "testlog: TRACE_SPAN_EVENTS=new,clsoe: \"clsoe\" is none of new, enter, exit, close, active, full, none; "
          "did you mean \"close\"? Using none.\n",
          "testlog: TRACE_TIME=UTC is none of utc, local, uptime, none; did you mean \"utc\"? Using utc.\n",
          "testlog: TRACE_COLOR=?[1m is none of auto, always, never. Using auto.\n"));
  EXPECT_EQ(e.show, Show::live);
  EXPECT_EQ(e.span_events, tracing::SpanEvents::none);
}

TEST(Environment, HelpAndOffAreSpecial) {
  EXPECT_TRUE(read({{"TRACE_FILTER", " help "}}).filter_help);
  EXPECT_FALSE(read({{"TRACE_FILTER", "help"}}).filter);
  EXPECT_TRUE(read({{"TRACE_CAPTURE", "off"}}).capture_off);
  EXPECT_FALSE(read({{"TRACE_CAPTURE", "off"}}).capture);
}

TEST(Environment, PerfIsOffOnSummaryOrDirectives) {
  struct Row {
    char const* text;
    bool report, summary;
    char const* directives;
  };
  for (Row const& row :
       {Row{"off", false, false, "trace"}, Row{"on", true, false, "trace"}, Row{" summary ", false, true, "trace"},
        Row{"on,summary", true, true, "trace"}, Row{"gpu=debug", true, false, "gpu=debug"},
        Row{"summary, gpu=debug,[a{b=1,c=2}]=trace", false, true, "gpu=debug,[a{b=1,c=2}]=trace"},
        Row{"off,gpu=debug", false, false, "gpu=debug"}, Row{"debug", true, false, "debug"}}) {
    PerfSettings const perf = read({{"TRACE_PERF", row.text}}).perf;
    EXPECT_EQ(perf.report, row.report) << row.text;
    EXPECT_EQ(perf.summary, row.summary) << row.text;
    EXPECT_EQ(perf.directives, row.directives) << row.text;
  }
}

TEST(Environment, PerfTellsWordsFromTargets) {
  std::vector<std::string> reports;
  for (char const* const wrong : {"summry", "ON", "true", "gpu=debug,Summary", "1", " , "}) {
    EXPECT_FALSE(read({{"TRACE_PERF", wrong}}, &reports).perf.any()) << wrong;
  }
  ASSERT_THAT(reports, SizeIs(6));
  std::string const on = " is none of off, on, summary, or directives; did you mean \"on\"? Using off.\n";
  EXPECT_EQ(reports[2], "testlog: TRACE_PERF=true" + on);
  EXPECT_EQ(reports[4], "testlog: TRACE_PERF=1" + on);
  EXPECT_EQ(reports[5], "testlog: TRACE_PERF= ,  is none of off, on, summary, or directives. Using off.\n");
  EXPECT_EQ(
      reports.front(),
      "testlog: TRACE_PERF=summry is none of off, on, summary, or directives; did you mean \"summary\"? Using off.\n");
  EXPECT_TRUE(read({{"TRACE_PERF", "gpu"}}, &reports).perf.report);
  for (char const* const level : {"0", "2", "3", "4", "5", "gpu=1", "info", "summary,debug"}) {
    read({{"TRACE_PERF", level}}, &reports);
  }
  EXPECT_THAT(reports, SizeIs(6));
}

// Such values hid nothing, without a word.
TEST(Environment, RedactTellsNamesFromWhatHidesNothing) {
  constexpr std::string_view kMeant = "did you mean \"password,token\"?";
  for (auto const& [value, hint] : {std::pair<char const*, std::string_view>{"password;token", kMeant},
                                    {"password token", kMeant},
                                    {"password|token", kMeant},
                                    {"\"password\",\"token\"", kMeant},
                                    {"[\"password\", 'token']", kMeant},
                                    {"{password, token}", kMeant},
                                    {"password\ntoken", kMeant},
                                    {"(password)", "did you mean \"password\"?"},
                                    {"token,pass*",
                                     "=token,pass*: \"pass*\" is none of names of fields such as password,token; names are "
                                     "whole words. "},
                                    {"pass?", "names are whole words."}}) {
    std::vector<std::string> reports;
    EXPECT_EQ(read({{"TRACE_REDACT", value}}, &reports).redact, value);  // what is valid in it is hidden
    EXPECT_THAT(reports, ElementsAre(testing::AllOf(testing::HasSubstr(std::string(hint)),
                                                    testing::EndsWith(" Using it as it stands.\n"))));
  }
  for (char const* const valid :
       {"password", " password , token,", "user.password,user->password", "user -> password", "(*user).password",
        "(*user)->password", "this->password", "user . password", "r#type,log.line", "a-password", "ns::password",
        "p\xc3\xa4ss",
        "x/y", "user@host", "$id"}) {
    std::vector<std::string> reports;
    EXPECT_EQ(read({{"TRACE_REDACT", valid}}, &reports).redact, valid);
    EXPECT_THAT(reports, IsEmpty()) << valid;
  }
}

TEST(Environment, PerfDoesWithoutDirectivesOfWhichNoneIsRight) {
  struct Row {
    char const* text;
    char const* words;
    char const* of_performance;  // under that profile
    char const* wrong;
  };
  for (Row const& row : {Row{"summary,gpu=bogus", "summary", "summary", "gpu=bogus"},
                         Row{"gpu=bogus,on", "on", "on", "gpu=bogus"},
                         Row{"bogus=bogus", "off", "summary", "bogus=bogus"},
                         Row{"off,a=b=c", "off", "off", "a=b=c"},
                         Row{"a=b,summary,on,c=d", "on,summary", "on,summary", "a=b,c=d"},
                         Row{"a=b,c=debug", "on,a=b,c=debug", "on,a=b,c=debug", ""}}) {
    std::vector<std::string> reports;
    PerfSettings const perf = read({{"TRACE_PERF", row.text}}, &reports).perf;
    EXPECT_EQ(in_words(perf), row.words) << row.text;
    EXPECT_EQ(perf.wrong, row.wrong) << row.text;
    PerfSettings const profile = read({{"TRACE_PERF", row.text}, {"TRACE_PROFILE", "performance"}}, &reports).perf;
    EXPECT_EQ(in_words(profile), row.of_performance) << row.text;
    EXPECT_THAT(reports, IsEmpty());  // who makes the filters tells what is wrong with directives
  }
}

TEST(Environment, PerfFilesMeanASummaryWhereNothingElseIsSaid) {
  EXPECT_TRUE(read({{"TRACE_PERF_JSON", "x"}}).perf.summary);
  EXPECT_TRUE(read({{"TRACE_PERF_PROM", "x"}}).perf.summary);
  EXPECT_FALSE(read({{"TRACE_PERF_JSON", "x"}, {"TRACE_PERF", "off"}}).perf.any());
  EXPECT_FALSE(read({{"TRACE_PERF_JSON", "x"}, {"TRACE_PERF", "on"}}).perf.summary);
  EXPECT_FALSE(read({}).perf.any());
  std::vector<std::string> reports;
  EXPECT_TRUE(read({{"TRACE_PERF_JSON", "x"}, {"TRACE_PERF", "yes"}}, &reports).perf.summary);
  EXPECT_THAT(reports, ElementsAre(testing::EndsWith(" Using summary.\n")));
}

TEST(Environment, PerfThresholdIsANumber) {
  EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", "500"}}).perf.threshold_us, 500u);
  EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", "9223372036854775"}}).perf.threshold_us, 9223372036854775u);
  std::vector<std::string> reports;
  for (char const* const wrong : {"5ms", "-1", "x", "99999999999999999999", "9223372036854776"}) {
    EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", wrong}}, &reports).perf.threshold_us, 0u) << wrong;
  }
  EXPECT_THAT(reports, SizeIs(5));
  EXPECT_EQ(reports.front(), "testlog: TRACE_PERF_THRESHOLD_US=5ms is none of whole microseconds. Using 0.\n");
}

TEST(Profile, IsLocalOrCiWhereCiIsSet) {
  EXPECT_EQ(read({}).profile, "local");
  EXPECT_EQ(read({{"CI", ""}}).profile, "local");
  EXPECT_EQ(read({{"CI", "true"}}).profile, "ci");
  EXPECT_EQ(read({{"CI", "true"}, {"TRACE_PROFILE", "local"}}).profile, "local");
  EXPECT_EQ(read({{"TRACE_PROFILE", "performance"}}).profile, "performance");
}

TEST(Profile, SetsWhatItsTableSays) {
  Environment const ci = read({{"CI", "1"}});
  EXPECT_EQ(ci.show, Show::failed);
  EXPECT_EQ(ci.color, tracing::ColorChoice::never);
  Environment const performance = read({{"TRACE_PROFILE", "performance"}});
  EXPECT_TRUE(performance.perf.summary);
  EXPECT_EQ(performance.default_filter, "warn");
  EXPECT_FALSE(performance.filter);
  EXPECT_EQ(performance.time, TimeStyle::uptime);
}

TEST(Profile, EveryRowOfTheTableIsAValueThatItsVariableTakes) {
  for (ProfileSetting const& setting : profile_settings()) {
    std::vector<std::string> reports;
    read({{setting.variable, setting.value}}, &reports);
    EXPECT_THAT(reports, IsEmpty()) << setting.variable;
  }
}

TEST(Profile, LosesToTheVariables) {
  Environment const e = read({{"CI", "true"}, {"TRACE_SHOW", "all"}, {"TRACE_COLOR", "always"}});
  EXPECT_EQ(e.show, Show::all);
  EXPECT_EQ(e.color, tracing::ColorChoice::always);
  Environment const p = read({{"TRACE_PROFILE", "performance"}, {"TRACE_FILTER", "debug"}, {"TRACE_PERF", "off"}});
  EXPECT_EQ(p.filter, "debug");
  EXPECT_FALSE(p.perf.any());
}

TEST(Profile, ThatIsNoneIsReportedWithThoseThereAre) {
  std::vector<std::string> reports;
  EXPECT_EQ(read({{"TRACE_PROFILE", "perfomance"}, {"CI", "true"}}, &reports).profile, "ci");
  EXPECT_THAT(reports, ElementsAre("testlog: TRACE_PROFILE=perfomance is none of local, ci, performance; did you mean "
                                   "\"performance\"? Using ci.\n"));
}

TEST(Profile, OfABadValueTheProfilesOwnHolds) {
  std::vector<std::string> reports;
  EXPECT_EQ(read({{"TRACE_SHOW", "alive"}, {"CI", "true"}}, &reports).show, Show::failed);
  EXPECT_THAT(reports, ElementsAre("testlog: TRACE_SHOW=alive is none of live, failed, all, none; did you mean \"live\"? Using "
                                   "failed.\n"));
}

TEST(Profile, TableIsThatOfTheDocumentation) {
  std::string expected = "| profile | sets |\n|---|---|\n";
  for (std::string const name : {"local", "ci", "performance"}) {
    std::string list;
    for (ProfileSetting const& setting : profile_settings()) {
      if (setting.profile != name) continue;
      if (!list.empty()) list += ", ";
      list.append("`").append(setting.variable).append("=").append(setting.value).append("`");
    }
    expected += "| `" + name + "` | " + (list.empty() ? "nothing" : list) + " |\n";
  }
  std::ifstream const file(TESTLOG_TEST_DIR "/../docs/environment.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(expected), std::string::npos) << "docs/environment.md should have\n" << expected;
}

TEST(Environment, DoesNotReadWhatComesLater) {
  std::vector<std::string> reports;
  read({{"TRACE_PERFETTO", "nonsense"}, {"TRACE_NVTX", "nonsense"}, {"TRACE_OTLP", "/nowhere/x"}}, &reports);
  EXPECT_THAT(reports, IsEmpty());
}

}  // namespace
}  // namespace testlog
