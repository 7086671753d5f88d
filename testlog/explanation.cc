#include "testlog/explanation.h"

#include <algorithm>
#include <string>
#include <utility>
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

void report_unmatched(Session& session, Unmatched which, std::string const& origin, tracing::EnvFilter const& filter) {
  static std::vector<std::string> reported;
  for (tracing::DirectiveNote const& note : tracing::explain(filter, reached_callsites())) {
    if (which == Unmatched::near && !note.is_near) continue;
    std::string line = "testlog: " + origin + ": " + note.sentence + "\n";
    if (std::find(reported.begin(), reported.end(), line) != reported.end()) continue;
    session.output().write_note("report", line);
    reported.push_back(std::move(line));
  }
}

}  // namespace

void report_unmatched(Session& session, Unmatched which) {
  if (session.is_mute()) return;
  Environment const& environment = session.environment();
  if (environment.filter) {
    report_unmatched(session, which, "TRACE_FILTER", session.live().filter().current());
  } else if (session.live().has_filter_of_test()) {
    report_unmatched(session, which, "the test's filter", session.live().filter().current());
  }
  if (auto const* const captured = session.capture().filter())
    report_unmatched(session, which, "TRACE_CAPTURE", *captured);
}

void print_filter_help(Session& session) {
  if (session.is_mute()) return;
  session.output().write_note("filter_help", tracing::filter_help("TRACE_FILTER", reached_callsites()));
}

}  // namespace testlog::inline v1
