#include "testlog/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

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
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "active, close"}}).span_events, tracing::SpanEvents::active | tracing::SpanEvents::close);
  EXPECT_EQ(read({{"TRACE_SPAN_EVENTS", "full"}}).span_events, tracing::SpanEvents::full);
}

TEST(Environment, ReportsEachBadValueWithWhatWouldBeRight) {
  std::vector<std::string> reports;
  Environment const e = read({{"TRACE_SHOW", "alive"}, {"TRACE_TIME", "UTC"}, {"TRACE_SPAN_EVENTS", "new,clsoe"}, {"TRACE_COLOR", "\x1b[1m"}}, &reports);
  EXPECT_THAT(reports,
              ElementsAre("testlog: TRACE_SHOW=alive is none of live, failed, all, none; did you mean \"live\"? Using live.\n",
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

TEST(Environment, DoesNotReadWhatComesLater) {
  std::vector<std::string> reports;
  read({{"TRACE_PROFILE", "nonsense"}, {"TRACE_PERF", "nonsense"}, {"TRACE_OTLP", "/nowhere/x"}}, &reports);
  EXPECT_THAT(reports, IsEmpty());
}

}  // namespace
}  // namespace testlog
