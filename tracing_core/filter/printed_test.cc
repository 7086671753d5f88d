// Compares messages of filters with approved files.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/explain.h"
#include "tracing_core/filter/filter_test_support.h"
#include "tracing_core/filter/targets.h"

namespace tracing { namespace {

using testing::expect_approved;

TEST(FilterTexts, ErrorsOfEnvFilter) {
  std::string out;
  for (std::string_view const text : {
           "info,gpu=debgu",
           "gpu=DEBUG3",
           "gpu=",
           "gpu=debug=trace",
           "=debug",
           "info,gpu[launch=debug",
           "gpu[launch{count=7]=debug",
           "gpu[launch{count=7}=debug",
           "gpu]",
           "[launch]debug",
           "[launch{name=(}]=trace,gpu=warn",
           "[launch{name=a{2,1}}]",
           "[launch{=1}]",
           "first=info, second=inof ,third=wran",
           "target with blanks=info",
           "gpu=\x1b[31m",
           "\xff\xfe=info",
           "grün=rot",
           "a_rather_long_target::that_goes_on::and_on::and_on::and_on::until_it_ends=debgu,another_long_target::"
           "behind_it=info",
       }) {
    std::vector<ParseError> errors;
    static_cast<void>(EnvFilter::parse_lossy(text, {}, &errors));
    for (ParseError const& error : errors) out += render(error, text, "TRACE_FILTER") + "\n";
    if (errors.empty()) out += "fine: " + std::string(text) + "\n";
  }
  expect_approved("errors.txt", out);
}

TEST(FilterTexts, ErrorsOfTargets) {
  std::string out;
  for (std::string_view const text :
       {"gpu=debgu", "gpu=info=debug", "a[{b}]=info", "a[{b=info", "a[{[{b}]=info", "gpu=info,,x=9"}) {
    ParseError error;
    bool const fine = Targets::parse(text, &error).has_value();
    out += fine ? "fine: " + std::string(text) + "\n" : render(error, text, "targets") + "\n" + error.message + "\n";
  }
  expect_approved("target_errors.txt", out);
}

TEST(FilterTexts, HelpAndExplanations) {
  std::vector<RuntimeCallsite> const sites{
      span_site("gpu::compile", "launch", Level::debug, {"count", "stream"}),
      event_site("gpu::compile", Level::info),
      event_site("gpu::memory", Level::trace, {"message", "bytes"}),
      span_site("host", "request", Level::info),
  };
  std::vector<Metadata const*> reached;
  for (RuntimeCallsite const& one : sites) reached.push_back(&one.metadata());
  expect_approved("help.txt", filter_help("TRACE_FILTER", reached) + "\n" + filter_help("TRACE_FILTER", {}));

  std::string notes;
  for (DirectiveNote const& note :
       explain(*EnvFilter::parse(
                   "gpu::compiel=debug,gpo,debgu,network,launch=info,[lanch],[host],host[launch],[launch{cuont}],"
                   "[{byts}]=info,[{bytes,count}]=info,[launch{count=7}],gpu=info"),
               reached)) {
    notes += note.sentence + "\n";
  }
  expect_approved("explanations.txt", notes);
}

}}  // namespace tracing
