#include "testlog/cli/otlp/test_spans.h"

#include <string>
#include <string_view>

#include "testlog/cli/otlp/values.h"

namespace testlog::cli::otlp {
namespace {

using summary::Result;
using tracing::environment::TraceIds;

constexpr std::size_t kMaxMessageBytes = 8192;

void add_names(Attributes& to, std::string const& name) {
  add_attribute(to, "test.case.name", name);
  if (std::size_t const dot = name.find('.'); dot != name.npos)
    add_attribute(to, "test.suite.name", name.substr(0, dot));
}

void add_result(Attributes& to, Result result) {
  if (result != Result::skipped)
    add_attribute(to, "test.case.result.status", summary::is_failure(result) ? "fail" : "pass");
  if (result != Result::passed && result != Result::failed)
    add_attribute(to, "testlog.result",
                  result == Result::unfinished ? "unfinished" : std::string(summary::name(result)));
}

}  // namespace

void add_failures(Span& span, TestFacts const& test) {
  for (Failure const& failure : test.failures) {
    SpanEvent event{failure.time, "exception", {}};
    add_attribute(event.attributes, "exception.type", failure.type);
    add_attribute(event.attributes, "exception.message", summary::cut(failure.message, kMaxMessageBytes));
    if (!failure.file.empty()) {
      add_attribute(event.attributes, "code.file.path", failure.file);
      add_attribute(event.attributes, "code.line.number", failure.line);
    }
    span.events.push_back(std::move(event));
  }
  span.dropped_events += test.dropped_failures;
  if (!summary::is_failure(test.outcome.result)) return;
  span.status = StatusCode::error;
  std::string const& message = test.outcome.message.empty() ? test.outcome.how : test.outcome.message;
  span.status_message = summary::cut(message, kMaxMessageBytes);
}

Span test_span(TestFacts const& test, std::uint32_t tag, TraceIds const& ids) {
  summary::TestOutcome const& outcome = test.outcome;
  Span span{.trace = ids.trace(), .id = ids.test(tag), .parent = ids.root()};
  span.name = outcome.name;
  span.begin = test.begin;
  span.end = std::max(test.begin, test.end);
  add_names(span.attributes, outcome.name);
  add_result(span.attributes, outcome.result);
  if (outcome.result == Result::skipped && !outcome.message.empty())
    add_attribute(span.attributes, "testlog.skip.message", summary::cut(outcome.message, kMaxMessageBytes));
  if (!test.file.empty()) {
    add_attribute(span.attributes, "code.file.path", test.file);
    add_attribute(span.attributes, "code.line.number", test.line);
  }
  if (!outcome.span_path.empty()) add_attribute(span.attributes, "testlog.span_path", outcome.span_path);
  if (summary::is_failure(outcome.result) && !outcome.how.empty())
    add_attribute(span.attributes, "testlog.cause", summary::cut(summary::text_of_cause(outcome), kMaxMessageBytes));
  add_failures(span, test);
  span.links.push_back({ids.trace_of(tag), ids.around(tag), {}});
  return span;
}

Span inner_span(TestFacts const* test, std::uint32_t tag, TraceIds const& ids, RunFacts const& facts, Missing missing) {
  Span span{.trace = ids.trace_of(tag), .id = ids.around(tag)};
  span.begin = test == nullptr ? facts.begin : test->begin;
  span.end = test == nullptr ? facts.end : std::max(test->begin, test->end);
  span.name = test == nullptr ? "a test whose beginning was overwritten" : test->outcome.name;
  if (test != nullptr) {
    add_names(span.attributes, test->outcome.name);
    add_result(span.attributes, test->outcome.result);
    if (summary::is_failure(test->outcome.result)) span.status = StatusCode::error;
    span.links.push_back({ids.trace(), ids.test(tag), {}});
  }
  if (missing.spans != 0)
    add_attribute(span.attributes, "testlog.dropped_spans", static_cast<std::int64_t>(missing.spans));
  if (missing.records != 0)
    add_attribute(span.attributes, "testlog.overwritten_records", static_cast<std::int64_t>(missing.records));
  return span;
}

}  // namespace testlog::cli::otlp
