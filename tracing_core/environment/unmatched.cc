#include "tracing_core/environment/unmatched.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/filter/explain.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

std::vector<Metadata const*> reached_callsites() {
  std::vector<Metadata const*> all;
  visit_callsites(
      [](void* context, Metadata const& metadata) {
        static_cast<std::vector<Metadata const*>*>(context)->push_back(&metadata);
      },
      &all);
  return all;
}

}  // namespace

void report_unmatched(Output& output, Unmatched which, std::string const& origin, EnvFilter const& filter) {
  static std::vector<std::string> reported;
  for (DirectiveNote const& note : explain(filter, reached_callsites())) {
    if (which == Unmatched::near && !note.is_near) continue;
    std::string line = "testlog: " + origin + ": " + note.sentence + "\n";
    if (std::find(reported.begin(), reported.end(), line) != reported.end()) continue;
    output.write_note("report", line);
    reported.push_back(std::move(line));
  }
}

void print_filter_help(Output& output) {
  output.write_note("filter_help", filter_help("TRACE_FILTER", reached_callsites()));
}

}}}  // namespace tracing::v1::environment
