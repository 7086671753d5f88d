#include "testlog/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace testlog { namespace {

using tracing::PerfSettings;
using tracing::TimeStyle;
using tracing::environment::ProfileSetting;
using tracing::environment::Variable;
using tracing::environment::VariableTable;

std::vector<VariableTable> const tables{tracing::environment::common_variables(), test_variables()};

std::map<std::string, std::string, std::less<>> set_to;

char const* get(char const* name) {
  auto const found = set_to.find(name);
  return found == set_to.end() ? nullptr : found->second.c_str();
}

Environment read(std::map<std::string, std::string, std::less<>> values, std::string* reports = nullptr) {
  set_to = std::move(values);
  std::string ignored;
  return read_environment(get, reports == nullptr ? ignored : *reports);
}

std::string reports_of(std::map<std::string, std::string, std::less<>> values) {
  std::string reports;
  read(std::move(values), &reports);
  return reports;
}

std::vector<Variable> all_variables() {
  std::vector<Variable> all;
  for (VariableTable const& table : tables) all.insert(all.end(), table.variables.begin(), table.variables.end());
  return all;
}

std::vector<ProfileSetting> profile_settings() {
  std::vector<ProfileSetting> all;
  for (VariableTable const& table : tables) {
    all.insert(all.end(), table.profile_settings.begin(), table.profile_settings.end());
  }
  return all;
}

std::string environment_page() {
  std::ostringstream page;
  page << std::ifstream(TESTLOG_TEST_DIR "/../docs/environment.md").rdbuf();
  return page.str();
}

TEST(Environment, HasTheDocumentedDefaults) {
  Environment const e = read({});
  EXPECT_EQ(e.filter, "info");
  EXPECT_FALSE(e.filter_is_set || e.filter_help || e.capture_off || e.no_color || e.force_color);
  EXPECT_EQ(e.show, Show::live);
  EXPECT_EQ(e.report, ReportForm::shortened);
  EXPECT_EQ(e.report_lines, 200u);
  EXPECT_EQ(e.format, tracing::FormatKind::full);
  EXPECT_EQ(e.span_events, tracing::SpanEvents::none);
  EXPECT_EQ(e.time, TimeStyle::utc);
  EXPECT_EQ(e.threads, ThreadLabels::automatic);
  EXPECT_EQ(e.color, tracing::ColorChoice::automatic);
  EXPECT_EQ(e.output, "stderr");
  EXPECT_EQ(e.chrome + e.flame, "");
}

TEST(Environment, AcceptsEveryWordOfTheTable) {
  for (Variable const& variable : all_variables()) {
    std::string_view values = variable.values;
    for (std::size_t begin; (begin = values.find('`')) != values.npos;) {
      std::size_t const end = values.find('`', begin + 1);
      std::string const word(values.substr(begin + 1, end - begin - 1));
      EXPECT_EQ(reports_of({{variable.name, word}}), "");
      values.remove_prefix(end + 1);
    }
  }
}

TEST(Environment, TablesEqualTheDocumentation) {
  for (VariableTable const& variables : tables) {
    std::string table = "| variable | values | default | meaning |\n|---|---|---|---|\n";
    for (Variable const& variable : variables.variables) {
      table.append("| `").append(variable.name).append("` | ").append(variable.values).append(" | ");
      table.append(variable.default_value).append(" | ").append(variable.help).append(" |\n");
    }
    EXPECT_NE(environment_page().find(table), std::string::npos) << "docs/environment.md should have\n" << table;
  }
}

TEST(Environment, ReadsWordsAsTheSettingsTheyName) {
  EXPECT_EQ(read({{"TRACE_SHOW", "failed"}}).show, Show::failed);
  EXPECT_EQ(read({{"TRACE_SHOW", "none"}}).show, Show::none);
  EXPECT_EQ(read({{"TRACE_FORMAT", "pretty"}}).format, tracing::FormatKind::pretty);
  EXPECT_EQ(read({{"TRACE_FORMAT", "json"}}).format, tracing::FormatKind::json);
  EXPECT_EQ(read({{"TRACE_TIME", "local"}}).time, TimeStyle::local);
  EXPECT_EQ(read({{"TRACE_TIME", "none"}}).time, TimeStyle::none);
  EXPECT_EQ(read({{"TRACE_THREADS", "on"}}).threads, ThreadLabels::on);
  EXPECT_EQ(read({{"TRACE_COLOR", "always"}}).color, tracing::ColorChoice::always);
  EXPECT_EQ(read({{"TRACE_COLOR", "never"}}).color, tracing::ColorChoice::never);
  EXPECT_EQ(read({{"TRACE_CUDA_HEALTH", "stop"}}).device_check, DeviceCheck::stop);
  EXPECT_EQ(read({{"TRACE_CUDA_HEALTH", "off"}}).device_check, DeviceCheck::off);
  EXPECT_TRUE(read({{"TRACE_FLAME_IDLE", "on"}}).flame_idle);
  EXPECT_FALSE(read({}).flame_idle);
  EXPECT_FALSE(read({{"TRACE_SPDLOG", "off"}}).spdlog);
  EXPECT_TRUE(read({{"TRACE_SPDLOG", "on"}}).spdlog);
  EXPECT_EQ(read({{"TRACE_NVTX", "in"}}).nvtx, Nvtx::in);
  EXPECT_EQ(read({{"TRACE_NVTX", "out"}}).nvtx, Nvtx::out);
  EXPECT_EQ(read({{"TRACE_NVTX", "both"}}).nvtx, Nvtx::both);
  EXPECT_EQ(read({}).nvtx, Nvtx::off);
}

TEST(Environment, CombinesSpanEvents) {
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "new,close"}}).span_events,
            tracing::SpanEvents::new_span | tracing::SpanEvents::close);
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "active, close"}}).span_events,
            tracing::SpanEvents::active | tracing::SpanEvents::close);
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "full"}}).span_events, tracing::SpanEvents::full);
}

TEST(Environment, ReportsBadValuesAndUsesDefaults) {
  std::string reports;
  Environment const e = read({{"TRACE_SHOW", "alive"},
                              {"TRACE_TIME", "UTC"},
                              {"TRACE_SPAN_EVENTS", "new,clsoe"},
                              {"TRACE_COLOR", "\x1b[1m"},
                              {"TRACE_REDACT_TOKEN", "two\nlines"}},
                             &reports);
  EXPECT_EQ(
      reports,
      "testlog: TRACE_SPAN_EVENTS=new,clsoe: unknown value \"clsoe\"; expected one of new, enter, exit, close, active, "
      "full, none (did you mean close?)\n"
      "testlog: TRACE_TIME=UTC: unknown value; expected one of utc, local, uptime, none (did you mean utc?)\n"
      "testlog: TRACE_COLOR=?[1m: unknown value; expected one of auto, always, never\n"
      "testlog: TRACE_REDACT_TOKEN=two?lines: contains a control character; expected one line of text\n"
      "testlog: TRACE_SHOW=alive: unknown value; expected one of live, failed, all, none (did you mean live?)\n");
  EXPECT_EQ(e.show, Show::live);
  EXPECT_EQ(e.span_events, tracing::SpanEvents::none);
  EXPECT_EQ(e.redact_token, "***REDACTED***");
}

TEST(Environment, ReportsWrongDirectivesAndUsesTheOthers) {
  std::string reports;
  Environment const e = read({{"TRACE_FILTER", "info,library=debgu"}, {"TRACE_CAPTURE", "a=b=c"}}, &reports);
  EXPECT_EQ(e.filter, "info,library=debgu");
  EXPECT_EQ(e.capture, "trace");
  EXPECT_THAT(
      reports,
      testing::AllOf(testing::HasSubstr("testlog: TRACE_FILTER: invalid filter directive\n  info,library=debgu\n"),
                     testing::HasSubstr("testlog: TRACE_CAPTURE: invalid filter directive\n  a=b=c\n")));
}

TEST(Environment, ReportsVariablesWithNearlyAKnownName) {
  auto const reports_of = [](std::vector<char const*> environment) {
    environment.push_back(nullptr);
    std::string reports;
    tracing::environment::report_misspelt_variables({tables[0], tables[1]}, environment.data(), reports);
    return reports;
  };
  EXPECT_EQ(reports_of({"HOME=/", "TRACE_FITLER=mylb=trace", "TRACE_SHOW=all", "TRACE_PERF_JSNO=x", "TRACE_colour=1"}),
            "testlog: TRACE_FITLER: unknown variable; did you mean TRACE_FILTER?\n"
            "testlog: TRACE_PERF_JSNO: unknown variable; did you mean TRACE_PERF_JSON?\n"
            "testlog: TRACE_colour: unknown variable; did you mean TRACE_COLOR?\n");
  for (char const* const foreign : {"TRACE_SOMETHING_ELSE=1", "TRACE_ID=1", "TRACE_FILE=x", "TRACE_LEVEL=2", "TRACE_=1",
                                    "TRACE_FITLER=", "TRACE_FITLER", "FITLER=info", "XTRACE_FITLER=info"}) {
    EXPECT_EQ(reports_of({foreign}), "") << foreign;
  }
  for (Variable const& variable : all_variables()) {
    EXPECT_EQ(reports_of({(std::string(variable.name) + "=x").c_str()}), "") << variable.name;
  }
}

TEST(Environment, TreatsBlankDirectivesAsUnset) {
  for (char const* const blank : {" ", ",", " , "}) {
    std::string reports;
    Environment const e = read({{"TRACE_FILTER", blank}, {"TRACE_CAPTURE", blank}, {"TRACE_PERF", blank}}, &reports);
    EXPECT_FALSE(e.filter_is_set || e.capture_off || e.perf.any());
    EXPECT_EQ(reports, "");
  }
}

TEST(Environment, ReadsHelpAndOff) {
  EXPECT_TRUE(read({{"TRACE_FILTER", " help "}}).filter_help);
  EXPECT_FALSE(read({{"TRACE_FILTER", "help"}}).filter_is_set);
  for (char const* const off : {"off", "OFF", "0"}) EXPECT_TRUE(read({{"TRACE_CAPTURE", off}}).capture_off) << off;
}

TEST(Environment, PerfTakesWordsAndDirectives) {
  struct Row {
    char const* text;
    bool report, summary;
    char const* directives;
  };
  for (Row const& row : {Row{"off", false, false, "debug"}, Row{"on", true, false, "debug"},
                         Row{" summary ", false, true, "debug"}, Row{"on,summary", true, true, "debug"},
                         Row{"trace", true, false, "trace"}, Row{"gpu=debug", true, false, "gpu=debug"},
                         Row{"summary, gpu=debug,[a{b=1,c=2}]=trace", false, true, "gpu=debug,[a{b=1,c=2}]=trace"},
                         Row{"off,gpu=debug", false, false, "gpu=debug"}, Row{"info", true, false, "info"}}) {
    PerfSettings const perf = read({{"TRACE_PERF", row.text}}).perf;
    EXPECT_EQ(perf.report, row.report) << row.text;
    EXPECT_EQ(perf.summary, row.summary) << row.text;
    EXPECT_EQ(perf.directives, row.directives) << row.text;
  }
}

// Returns the value of TRACE_PERF that means these settings.
std::string to_string(PerfSettings const& settings) {
  std::string out = settings.report ? "on" : "";
  if (settings.summary) out += out.empty() ? "summary" : ",summary";
  if (out.empty()) return "off";
  return settings.directives == "debug" ? out : out + "," + settings.directives;
}

TEST(Environment, IgnoresWrongDirectivesOfPerf) {
  struct Row {
    char const* text;
    char const* expected;
    char const* in_profile_performance;
  };
  for (Row const& row : {Row{"summary,gpu=bogus", "summary", "summary"}, Row{"gpu=bogus,on", "on", "on"},
                         Row{"bogus=bogus", "off", "on,summary"}, Row{"off,a=b=c", "off", "off"},
                         Row{"a=b,c=debug", "on,a=b,c=debug", "on,a=b,c=debug"}}) {
    std::string reports;
    EXPECT_EQ(to_string(read({{"TRACE_PERF", row.text}}, &reports).perf), row.expected) << row.text;
    EXPECT_EQ(to_string(read({{"TRACE_PERF", row.text}, {"TRACE_PROFILE", "performance"}}).perf),
              row.in_profile_performance)
        << row.text;
    EXPECT_THAT(reports, testing::StartsWith("testlog: TRACE_PERF: invalid filter directive\n"));
  }
}

TEST(Environment, PerfFilesTurnOnTheSummaryIfPerfIsUnset) {
  EXPECT_TRUE(read({{"TRACE_PERF_JSON", "x"}}).perf.summary);
  EXPECT_TRUE(read({{"TRACE_PERF_PROM", "x"}}).perf.summary);
  EXPECT_FALSE(read({{"TRACE_PERF_JSON", "x"}, {"TRACE_PERF", "off"}}).perf.any());
  EXPECT_FALSE(read({{"TRACE_PERF_JSON", "x"}, {"TRACE_PERF", "on"}}).perf.summary);
  EXPECT_FALSE(read({}).perf.any());
}

TEST(Environment, PerfThresholdIsANumber) {
  EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", "500"}}).perf.threshold_us, 500u);
  EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", "9223372036854775"}}).perf.threshold_us, 9223372036854775u);
  for (std::string const wrong : {"5ms", "-1", "x", "99999999999999999999", "9223372036854776"}) {
    std::string reports;
    EXPECT_EQ(read({{"TRACE_PERF_THRESHOLD_US", wrong}}, &reports).perf.threshold_us, 0u);
    EXPECT_EQ(reports, "testlog: TRACE_PERF_THRESHOLD_US=" + wrong + ": not a valid number; expected microseconds\n");
  }
}

TEST(Profile, IsCiIfCiIsSetAndElseNone) {
  EXPECT_EQ(read({}).profile, "");
  EXPECT_EQ(read({{"CI", ""}}).profile, "");
  EXPECT_EQ(read({{"CI", "true"}}).profile, "ci");
  EXPECT_EQ(read({{"CI", "true"}, {"TRACE_PROFILE", "local"}}).profile, "local");
  EXPECT_EQ(read({{"TRACE_PROFILE", "performance"}}).profile, "performance");
}

TEST(Profile, SetsTheVariablesOfItsTable) {
  Environment const ci = read({{"CI", "1"}});
  EXPECT_EQ(ci.show, Show::failed);
  EXPECT_EQ(ci.color, tracing::ColorChoice::never);
  Environment const performance = read({{"TRACE_PROFILE", "performance"}});
  EXPECT_TRUE(performance.perf.report && performance.perf.summary);
  EXPECT_EQ(performance.format, tracing::FormatKind::json);
  EXPECT_EQ(performance.span_events, tracing::SpanEvents::none);  // one line for each perf span
  EXPECT_EQ(read({{"TRACE_PROFILE", "local"}}).format, tracing::FormatKind::pretty);
}

TEST(Profile, TableHoldsValidValues) {
  for (ProfileSetting const& setting : profile_settings())
    EXPECT_EQ(reports_of({{setting.variable, setting.value}}), "");
}

TEST(Profile, YieldsToTheVariables) {
  Environment const e = read({{"CI", "true"}, {"TRACE_SHOW", "all"}, {"TRACE_COLOR", "always"}});
  EXPECT_EQ(e.show, Show::all);
  EXPECT_EQ(e.color, tracing::ColorChoice::always);
  Environment const p = read({{"TRACE_PROFILE", "performance"}, {"TRACE_FILTER", "debug"}, {"TRACE_PERF", "off"}});
  EXPECT_EQ(p.filter, "debug");
  EXPECT_FALSE(p.perf.any());
}

TEST(Profile, IsTheDefaultOneIfTheNameIsUnknown) {
  std::string reports;
  EXPECT_EQ(read({{"TRACE_PROFILE", "perfomance"}, {"CI", "true"}}, &reports).profile, "ci");
  EXPECT_EQ(reports,
            "testlog: TRACE_PROFILE=perfomance: unknown value; expected one of local, ci, performance (did you mean "
            "performance?)\n");
}

TEST(Profile, HoldsForVariablesWithBadValues) {
  EXPECT_EQ(read({{"TRACE_SHOW", "alive"}, {"CI", "true"}}).show, Show::failed);
  EXPECT_EQ(read({{"TRACE_FORMAT", "ful"}, {"TRACE_PROFILE", "local"}}).format, tracing::FormatKind::pretty);
}

TEST(Profile, ShowsWhatTheFilterSelects) {
  for (std::string const profile : {"", "ci"}) {
    std::map<std::string, std::string, std::less<>> const ci{{"CI", "true"}, {"TRACE_PROFILE", profile}};
    auto const with = [&ci](std::map<std::string, std::string, std::less<>> more) {
      more.insert(ci.begin(), ci.end());
      return more;
    };
    EXPECT_EQ(read(with({{"TRACE_FILTER", "trace"}})).show, Show::live);
    EXPECT_EQ(read(with({{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", "failed"}})).show, Show::failed);
    EXPECT_EQ(read(with({{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", "all"}})).show, Show::all);
    EXPECT_EQ(read(with({{"TRACE_FILTER", "a=wrong"}})).show, Show::failed);
    EXPECT_EQ(read(with({{"TRACE_FILTER", "help"}})).show, Show::failed);
    EXPECT_EQ(reports_of(with({{"TRACE_FILTER", "trace"}, {"TRACE_SPAN_EVENTS", "close"}})), "");
  }
}

TEST(Profile, ReportsVariablesOfWhichItHidesSomething) {
  EXPECT_EQ(
      reports_of({{"CI", "true"}, {"TRACE_SPAN_EVENTS", "close"}, {"TRACE_PERF", "on"}, {"TRACE_OUTPUT", "run.log"}}),
      "testlog: TRACE_SPAN_EVENTS=close, TRACE_PERF=on, TRACE_OUTPUT=run.log: tests that pass show no records, since "
      "CI is set, "
      "which implies TRACE_SHOW=failed; TRACE_SHOW=live shows them\n");
  EXPECT_EQ(
      reports_of({{"TRACE_PROFILE", "ci"}, {"TRACE_PERF", "gpu=debug"}}),
      "testlog: TRACE_PERF=gpu=debug: tests that pass show no records, since TRACE_PROFILE=ci sets TRACE_SHOW=failed; "
      "TRACE_SHOW=live shows them\n");
  EXPECT_EQ(
      reports_of({{"TRACE_PROFILE", "ci"}, {"TRACE_OUTPUT", "a\nb"}}),
      "testlog: TRACE_OUTPUT=a\\nb: tests that pass show no records, since TRACE_PROFILE=ci sets TRACE_SHOW=failed; "
      "TRACE_SHOW=live shows them\n");
  EXPECT_EQ(reports_of({{"CI", "true"}, {"TRACE_PERF", "on"}, {"TRACE_SHOW", "failed"}}), "");
  EXPECT_EQ(reports_of({{"CI", "true"}, {"TRACE_PERF", "on"}, {"TRACE_PROFILE", "local"}}), "");
  EXPECT_EQ(reports_of(
                {{"CI", "true"}, {"TRACE_SPAN_EVENTS", "none"}, {"TRACE_PERF", "summary"}, {"TRACE_OUTPUT", "stdout"}}),
            "");
  EXPECT_EQ(reports_of({{"CI", "true"}, {"TRACE_FORMAT", "json"}, {"TRACE_TIME", "none"}, {"TRACE_CHROME", "x"}}), "");
}

TEST(Profile, LeavesColoursToTheVariableThatForcesThem) {
  auto const is_coloured = [](std::map<std::string, std::string, std::less<>> const& values) {
    return tracing::environment::use_color(read(values), true);
  };
  EXPECT_FALSE(is_coloured({{"CI", "true"}}));
  EXPECT_TRUE(is_coloured({{"CI", "true"}, {"CLICOLOR_FORCE", "1"}}));
  EXPECT_FALSE(is_coloured({{"CI", "true"}, {"CLICOLOR_FORCE", "0"}}));
  EXPECT_FALSE(is_coloured({{"CI", "true"}, {"CLICOLOR_FORCE", "1"}, {"TRACE_COLOR", "never"}}));
  EXPECT_FALSE(is_coloured({{"CI", "true"}, {"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
}

TEST(Profile, NamedLikeAFileIsAnsweredWithTheVariablesThatWriteFiles) {
  for (std::string const value : {"./logs", "/tmp/run.xplane.pb", "logs", "on", "1"}) {
    EXPECT_EQ(reports_of({{"TRACE_PROFILE", value}}),
              "testlog: TRACE_PROFILE=" + value +
                  ": unknown value; expected one of local, ci, performance; TRACE_PERFETTO, "
                  "TRACE_XPLANE and TRACE_CHROME write profiles to files\n");
  }
}

TEST(Profile, TableEqualsTheDocumentation) {
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
  EXPECT_NE(environment_page().find(expected), std::string::npos) << "docs/environment.md should have\n" << expected;
}

}}  // namespace testlog
