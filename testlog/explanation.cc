#include "testlog/explanation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tracing_core/filter/explain.h"

namespace testlog::inline v1 {
namespace {

std::vector<tracing::Metadata const*> reached_callsites() {
  std::vector<tracing::Metadata const*> all;
  tracing::visit_callsites(
      [](void* context, tracing::Metadata const& metadata) {
        static_cast<std::vector<tracing::Metadata const*>*>(context)->push_back(&metadata);
      },
      &all);
  return all;
}

}  // namespace

void report_unmatched(Session& session) {
  if (!session.environment().filter || session.is_mute()) return;
  static std::vector<std::string> reported;
  for (tracing::DirectiveNote const& note : tracing::explain(session.show_filter()->current(), reached_callsites())) {
    if (std::find(reported.begin(), reported.end(), note.directive) != reported.end()) continue;
    reported.push_back(note.directive);
    session.output().write("testlog: TRACE_FILTER: " + note.sentence + "\n");
  }
}

void print_filter_help(Session& session) {
  if (!session.is_mute()) session.output().write(tracing::filter_help("TRACE_FILTER", reached_callsites()));
}

}  // namespace testlog::inline v1
