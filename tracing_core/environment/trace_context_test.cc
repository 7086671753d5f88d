#include "tracing_core/environment/trace_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "tracing_core/environment/child_environment.h"
#include "tracing_core/environment/variables.h"

namespace tracing { inline namespace v1 { namespace environment { namespace {

constexpr std::string_view kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Returns what is wrong with a value of TRACEPARENT, or the value that a child gets.
std::string read(std::string_view text) {
  std::string_view what;
  auto const parent = parse_traceparent(text, what);
  return parent ? parent->text() : std::string(what);
}

// The cases of https://github.com/w3c/trace-context/blob/main/test/test.py, as far as they are about one value.
TEST(TraceParent, ReadsWhatTheSpecificationAllows) {
  struct {
    char const* text;
    std::string_view expected;
  } const cases[] = {
      {kGood.data(), kGood},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03", kGood},  // other flags are not passed on
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe",
       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", kGood},
      {"fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like", kGood},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-", kGood},
      {"", "has no version"},
      {"0", "has no version"},
      {"0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has no version"},
      {".0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has no version"},
      {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has no version"},
      {"0A-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has no version"},
      {"000-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "too long"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-", "too long"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", "too long"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ", "too long"},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", "has no dashes between its parts"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", "too short"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "too short"},
      {"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "too short"},
      {"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b77-01", "has no dashes between its parts"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736.00f067aa0ba902b7-01", "has no dashes between its parts"},
      {"00-.bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has characters other than 0 to 9 and a to f"},
      {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "has characters other than 0 to 9 and a to f"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01", "has characters other than 0 to 9 and a to f"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-.0", "has characters other than 0 to 9 and a to f"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A", "has characters other than 0 to 9 and a to f"},
      {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "the trace is 0"},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "the span is 0"},
  };
  for (auto const& one : cases) EXPECT_EQ(read(one.text), one.expected) << one.text;
}

TEST(TraceParent, ChecksTheState) {
  std::string many, too_many;
  for (int i = 0; i < 33; ++i) {
    too_many += "k" + std::to_string(i) + "=v,";
    if (i == 31) many = too_many;
  }
  std::string const k256(256, 'k'), v256(256, 'v');
  struct {
    std::string text;
    std::string_view expected;
  } const cases[] = {
      {"foo=1,bar=2", ""},
      {"foo=1 \t , \t bar=2, , baz=3", ""},
      {"tenant@system=t61rcWkgMzE", ""},
      {"1a-_*/=x y", ""},
      {k256 + "=" + v256, ""},
      {many, ""},
      {too_many, "has more than 32 members"},
      {"foo", "has a member without \"=\""},
      {"foo@=1,=2", "has a bad key"},
      {"Foo=1", "has a bad key"},
      {"foo =1", "has a bad key"},
      {"@foo=1", "has a bad key"},
      {k256 + "k=1", "has a bad key"},
      {"foo=", "has a bad value"},
      {"foo=1=2", "has a bad value"},
      {"foo=\x7f", "has a bad value"},
      {"foo=" + v256 + "v", "has a bad value"},
      {"foo=1,foo=1", "has a key twice"},
  };
  for (auto const& one : cases) EXPECT_EQ(problem_of_tracestate(one.text), one.expected) << one.text;
}

// Reads the variables; returns the reports.
std::string reports_of(char const* (*get)(char const* name), EnvOptions& options) {
  std::string reports;
  read_variables({common_variables()}, get, options, reports);
  return reports;
}

TEST(TraceParent, IsReportedOnceIfBadAndTheStateIgnored) {
  EnvOptions options;
  std::string const reports = reports_of(
      [](char const* name) -> char const* {
        if (std::string_view(name) == "TRACEPARENT") return "00-xyz";
        return std::string_view(name) == "TRACESTATE" ? "Bad" : nullptr;
      },
      options);
  EXPECT_EQ(reports,
            "testlog: TRACEPARENT=00-xyz: too short; expected a trace and a span, as in "
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n");
  EXPECT_EQ(options.traceparent, "");
  EXPECT_EQ(options.tracestate, "");
}

TEST(TraceParent, StaysIfOnlyTheStateIsBad) {
  EnvOptions options;
  std::string const reports = reports_of(
      [](char const* name) -> char const* {
        if (std::string_view(name) == "TRACEPARENT") return kGood.data();
        return std::string_view(name) == "TRACESTATE" ? "foo=1,foo=2" : nullptr;
      },
      options);
  EXPECT_EQ(reports, "testlog: TRACESTATE=foo=1,foo=2: has a key twice; expected a list, as in a=1,b=2\n");
  EXPECT_EQ(options.traceparent, kGood);
  EXPECT_EQ(options.tracestate, "");
}

TEST(TraceIds, AreTheSameForTheSameRecordingAndDifferOtherwise) {
  TraceIdentity const identity{.process = 17, .start_ns = 5, .run = "4-7", .host = "h"};
  TraceIdentity other = identity;
  other.start_ns = 6;
  TraceIds const a(identity), again(identity), b(other);
  EXPECT_EQ(a.trace(), again.trace());
  EXPECT_EQ(a.trace(), b.trace()) << "the processes of a run share its trace";
  EXPECT_EQ(a.root(), b.root());
  EXPECT_EQ(a.span(1), again.span(1));
  std::set<std::uint64_t> ids;
  for (TraceIds const* of : {&a, &b}) {
    for (std::uint32_t i = 1; i < 1000; ++i) {
      for (std::uint64_t const id : {of->span(i), of->test(i), of->around(i), of->trace_of(i).low}) ids.insert(id);
    }
  }
  EXPECT_EQ(ids.size(), 2u * 4 * 999);
  EXPECT_FALSE(ids.contains(0));
}

TEST(TraceIds, BelongToTheTraceOfTheParent) {
  TraceIds const ids({.process = 17, .start_ns = 5, .traceparent = std::string(kGood)});
  EXPECT_EQ(hex_of(ids.trace()), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex_of(ids.parent()->span), "00f067aa0ba902b7");
  EXPECT_NE(ids.trace_of(1), ids.trace()) << "a test has a trace of its own";
}

TEST(ChildEnvironment, IsEmptyIfThereIsNothingToTell) { EXPECT_THAT(child_environment(), testing::IsEmpty()); }

TEST(ChildEnvironment, PassesOnWhatTheProcessGotIfItRecordsNothing) {
  set_span_source({.traceparent = std::string(kGood), .tracestate = "a=1"});
  EXPECT_THAT(child_environment(),
              testing::ElementsAre(testing::Pair("TRACEPARENT", kGood), testing::Pair("TRACESTATE", "a=1")));
  set_span_source({});
}

}}}}  // namespace tracing::v1::environment
