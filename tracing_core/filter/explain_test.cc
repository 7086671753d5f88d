#include "tracing_core/filter/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/filter/filter_test_support.h"

namespace tracing { namespace {

// The callsites that ran in these tests.
class Explain : public testing::Test {
 protected:
  std::string notes(std::string_view text) const {
    EnvFilter const filter = *EnvFilter::parse(text);
    std::string out;
    for (DirectiveNote const& note : explain(filter, reached_))
      out.append(out.empty() ? "" : "\n").append(note.sentence);
    return out;
  }

  std::vector<RuntimeCallsite> const sites_{
      span_site("gpu::compile", "launch", Level::debug, {"count", "stream"}),
      event_site("gpu::compile", Level::info),
      event_site("gpu::memory", Level::trace, {"message", "bytes"}),
      span_site("host", "request", Level::info),
  };
  std::vector<Metadata const*> const reached_{&sites_[0].metadata(), &sites_[1].metadata(), &sites_[2].metadata(),
                                              &sites_[3].metadata()};
};

TEST_F(Explain, IsEmptyForDirectivesThatMatched) {
  EXPECT_EQ(notes("info,gpu=debug,gpu::memory,[launch]=trace,host[request],[launch{count}],[{bytes}],[{stream}]=info"),
            "");
}

// One filter serves runs with and without a GPU, whose targets differ.
TEST_F(Explain, SaysNothingOfWhatIsOffAndNeverRan) {
  EXPECT_EQ(notes("network=off,[download]=off,[{url}]=off"), "");
  EXPECT_EQ(notes("gpo=off"),
            "\"gpo=off\" matched nothing that ran: no target begins with \"gpo\"; did you mean \"gpu\"?");
  EXPECT_EQ(notes("[host]=off"),
            "\"[host]=off\" matched nothing that ran: \"host\" is a target; write it without brackets");
}

TEST_F(Explain, SuggestsTheNearestNameThatRan) {
  struct {
    std::string_view text, note;
  } const cases[] = {
      {"gpu::compiel=debug",
       "\"gpu::compiel=debug\" matched nothing that ran: no target begins with \"gpu::compiel\"; did you mean "
       "\"gpu::compile\"?"},
      {"gpo", "\"gpo=trace\" matched nothing that ran: no target begins with \"gpo\"; did you mean \"gpu\"?"},
      {"debgu",
       "\"debgu=trace\" matched nothing that ran: no target begins with \"debgu\"; did you mean the level \"debug\"?"},
      {"gpu:trace",
       "\"gpu:trace=trace\" matched nothing that ran: no target begins with \"gpu:trace\"; did you mean "
       "\"gpu=trace\"?"},
      {"launch:trace", "\"launch:trace=trace\" matched nothing that ran: no target begins with \"launch:trace\""},
      {"gpu::trace", "\"gpu::trace=trace\" matched nothing that ran: no target begins with \"gpu::trace\""},
      {"network", "\"network=trace\" matched nothing that ran: no target begins with \"network\""},
      {"launch=info", "\"launch=info\" matched nothing that ran: \"launch\" is a span; write \"[launch]\""},
      {"[lanch]", "\"[lanch]=trace\" matched nothing that ran: no span is named \"lanch\"; did you mean \"launch\"?"},
      {"[host]", "\"[host]=trace\" matched nothing that ran: \"host\" is a target; write it without brackets"},
      {"host[launch]",
       "\"host[launch]=trace\" matched nothing that ran: the target of span \"launch\" is \"gpu::compile\""},
      {"[launch{cuont}]",
       "\"[launch{cuont}]=trace\" matched nothing that ran: span \"launch\" has no field \"cuont\"; did "
       "you mean \"count\"?"},
      {"[{byts}]=info",
       "\"[{byts}]=info\" matched nothing that ran: nothing has a field \"byts\"; did you mean \"bytes\"?"},
      {"[{bytes,count}]=info", "\"[{bytes,count}]=info\" matched nothing that ran: nothing has all these fields"},
      {"[launch{count=7}]",
       "\"[launch{count=7}]=trace\" matched nothing that ran: no span \"launch\" recorded these values"},
      {"[launch{bytes}]=debug",
       "\"[launch{bytes}]=debug\" matched nothing that ran: span \"launch\" has no field \"bytes\"; for events that "
       "have it "
       "write [{bytes}]"},
      {"[launch{stream=c++}]",
       "\"[launch{stream=c++}]=trace\" matched nothing that ran: no span \"launch\" recorded these values; the value "
       "of "
       "\"stream\" is not a regular expression: bad repetition operator: ++"},
      {"[launch{stream=a,b}]",
       "\"[launch{stream=a,b}]=trace\" matched nothing that ran: span \"launch\" has no field \"b\"; a value with a "
       "comma is "
       "written in quotes: stream=\"...\""},
  };
  for (auto const& c : cases) EXPECT_EQ(notes(c.text), c.note) << c.text;
}

TEST_F(Explain, DistinguishesTyposFromNamesOfOtherParts) {
  for (char const* const typo :
       {"gpo", "gpu::compiel=debug", "gup::memory", "debgu", "launch=info", "[host]", "[lanch]", "[launch{cuont}]"}) {
    auto const notes = explain(*EnvFilter::parse(typo), reached_);
    ASSERT_EQ(notes.size(), 1u) << typo;
    EXPECT_TRUE(notes[0].is_near) << typo;
  }
  // Here the similar path has other names, or more of them.
  for (char const* const other : {"gpu::metrics", "hosts::gpu", "gpu::memory::io", "network", "[upload]",
                                  "host[launch]", "[launch{width}]", "[launch{count=7}]"}) {
    for (DirectiveNote const& note : explain(*EnvFilter::parse(other), reached_)) {
      EXPECT_FALSE(note.is_near) << note.sentence;
    }
  }
}

TEST_F(Explain, ReportsValuesThatWereNotRecorded) {
  EnvFilter filter = *EnvFilter::parse("[launch{count=7}],[launch{count=8}]");
  FilteredSpan const span(filter, sites_[0], {{"count", Value::of_i64(7)}});
  auto const notes = explain(filter, reached_);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].directive, "[launch{count=8}]=trace");
}

// Returns the part of the note after "the nearest that matches is ".
std::string suggestion(EnvFilter const& filter, std::vector<Metadata const*> const& reached) {
  auto const notes = explain(filter, reached);
  if (notes.size() != 1) return std::to_string(notes.size()) + " notes";
  std::string const before = "the nearest that matches is ";
  std::size_t const at = notes[0].sentence.find(before);
  return at == std::string::npos ? "none: " + notes[0].sentence : notes[0].sentence.substr(at + before.size());
}

TEST_F(Explain, SuggestsADirectiveThatMatchesTheNearestValuesThatWereRecorded) {
  struct {
    std::string_view text;
    std::vector<Recorded> spans;
    std::string_view nearest;
  } const cases[] = {
      {"[launch{count=7}]=debug",
       {{{"count", Value::of_i64(99)}}, {{"count", Value::of_i64(71)}}},
       "[launch{count=71}]=debug"},
      {"[launch{count=7}]", {{{"count", Value::of_text("7")}}}, "[launch{count=\"7\"}]=trace"},
      {"[launch{count=(4,64,1)}]",
       {{{"count", Value::of_verbatim("(4, 64, 1)")}}},
       "[launch{count=\"(4, 64, 1)\"}]=trace"},
      {"gpu[launch{count=a.c,stream=1}]",
       {{{"count", Value::of_text("a,\"d")}, {"stream", Value::of_f64(1)}}},
       "gpu[launch{count=\"a,\\\"d\",stream=1.0}]=trace"},
      {"[launch{count=2,stream=1}]",
       {{{"count", Value::of_i64(1)}, {"stream", Value::of_i64(1)}}},
       "[launch{count=1,stream=1}]=trace"},
      {"[launch{count=true}]", {{{"count", Value::of_bool(false)}}}, "[launch{count=false}]=trace"},
  };
  for (auto const& c : cases) {
    EnvFilter filter = *EnvFilter::parse(c.text);
    for (Recorded const& recorded : c.spans) FilteredSpan(filter, sites_[0], recorded);
    EXPECT_EQ(suggestion(filter, reached_), c.nearest) << c.text;
    EnvFilter matching = *EnvFilter::parse(c.nearest);
    for (Recorded const& recorded : c.spans) FilteredSpan(matching, sites_[0], recorded);
    EXPECT_TRUE(explain(matching, reached_).empty()) << c.nearest;
  }
}

TEST_F(Explain, SuggestsNoValuesThatAreHiddenOrLongOrMissing) {
  for (Value const& value : {Value::of_redacted(), Value::of_text(std::string_view(std::string(1000, 'x'))), Value()}) {
    EnvFilter filter = *EnvFilter::parse("[launch{count=7}]");
    FilteredSpan(filter, sites_[0], {{"count", value}});
    EXPECT_THAT(suggestion(filter, reached_), testing::StartsWith("none: "));
  }
}

TEST_F(Explain, KeepsFewOfManyValues) {
  EnvFilter filter = *EnvFilter::parse("[launch{count=700000}]");
  for (int i = 0; i < 100000; ++i) FilteredSpan(filter, sites_[0], {{"count", Value::of_i64(i)}});
  EXPECT_THAT(suggestion(filter, reached_), testing::MatchesRegex("\\[launch\\{count=[0-9]+\\}\\]=trace"));
}

TEST_F(Explain, ReportsLevelsThatWereCompiledOut) {
  internal::MetadataParts parts = sites_[1].metadata().parts();
  parts.max_level = LevelFilter::info;
  Metadata const limited(parts);
  std::vector<Metadata const*> const reached{&limited};
  auto const notes = explain(*EnvFilter::parse("gpu=debug,info"), reached);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].sentence,
            "\"gpu=debug\" is limited: levels above info were compiled out of \"gpu\" "
            "(TRACING_MAX_LEVEL)");
}

TEST_F(Explain, IsEmptyIfNothingRan) { EXPECT_TRUE(explain(EnvFilter("foo"), {}).empty()); }

TEST_F(Explain, HelpShowsTheGrammarAndTheTargetsThatRan) {
  std::string const help = filter_help("TRACE_FILTER", reached_);
  EXPECT_EQ(help.substr(help.find("Reached")),
            "Reached in this run:\n"
            "  gpu::compile: info, debug; spans launch{count,stream}\n"
            "  gpu::memory: trace\n"
            "  host: info; spans request\n");
  EXPECT_TRUE(help.starts_with("TRACE_FILTER selects the records that are shown: directives, separated by commas.\n"));
  EXPECT_TRUE(filter_help("TRACE_FILTER", {}).ends_with("\nNothing was reached yet.\n"));
}

// Every example in the help text is a valid directive.
TEST_F(Explain, HelpShowsValidDirectives) {
  std::string const help = filter_help("TRACE_FILTER", reached_);
  int examples = 0;
  for (std::size_t line = help.find("\n  "); line != help.npos && line < help.find("Reached");
       line = help.find("\n  ", line + 1)) {
    std::string_view const text = std::string_view(help).substr(line + 3);
    EXPECT_TRUE(EnvFilter::parse(text.substr(0, text.find(' ')))) << text.substr(0, 40);
    ++examples;
  }
  EXPECT_EQ(examples, 5);
}

}}  // namespace tracing
