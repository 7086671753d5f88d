// gMock matchers for records(), and EXPECT_EVENT_COUNT and EXPECT_SPAN_COUNT.
//
//   EXPECT_THAT(testlog::records(), Contains(Event(HasLevel(tracing::Level::info), HasMessage(HasSubstr("Compiling")),
//                                                  InSpan("launch_inner"))));
//   EXPECT_SPAN_COUNT("compile", Le(1));
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "testlog/allow_events.h"
#include "testlog/records.h"

namespace testlog { inline namespace v1 {

namespace internal {

MATCHER(IsEvent, negation ? "is a span" : "is an event") {
  (void)result_listener;
  return !arg.is_span;
}

}  // namespace internal

/// Matches an event that all matchers match.
template <class... M>
auto Event(M const&... matchers) {
  return testing::AllOf(internal::IsEvent(), matchers...);
}
/// Matches a new span: Span("compile", HasField("mode", "Checked")).
template <class N, class... M>
auto Span(N const& name, M const&... matchers) {
  return testing::AllOf(testing::Not(internal::IsEvent()), testing::Field("name", &Record::name, name), matchers...);
}

/// Matches the level: a level, or a matcher of one. Larger levels are more verbose.
template <class M>
auto HasLevel(M const& level) {
  return testing::Field("level", &Record::level, level);
}
/// Matches the text of an event's message: a text, or a matcher of one.
template <class M>
auto HasMessage(M const& message) {
  return testing::Field("message", &Record::message, message);
}
/// Matches the target: a text, or a matcher of one.
template <class M>
auto HasTarget(M const& target) {
  return testing::Field("target", &Record::target, target);
}

/// Matches a record that has the field, with any value.
MATCHER_P(HasField, name, (negation ? "has no field " : "has a field ") + std::string(name)) {
  (void)result_listener;
  return arg.field(name) != nullptr;
}
/// Matches a record whose field has the value, or a value that the matcher matches: HasField("bytes", Gt(0)).
MATCHER_P2(HasField, name, value,
           (negation ? "has no field " : "has a field ") + std::string(name) + " that " +
               testing::DescribeMatcher<FieldValue const&>(value)) {
  FieldValue const* const found = arg.field(name);
  if (found == nullptr) {
    *result_listener << "which has no such field";
    return false;
  }
  return testing::ExplainMatchResult(testing::MatcherCast<FieldValue const&>(value), *found, result_listener);
}

/// Matches a record inside a span with this name, at any depth, that the other matchers match:
/// InSpan("launch", HasField("stream", 7)).
template <class N, class... M>
auto InSpan(N const& name, M const&... matchers);

namespace internal {

inline std::vector<Record> spans_around(Record const& record) {
  std::vector<Record> all;
  for (SpanInfo const& span : record.spans) {
    Record& one = all.emplace_back();
    one.is_span = true;
    one.name = span.name;
    one.target = span.target;
    one.level = span.level;
    one.fields = span.fields;
  }
  return all;
}

}  // namespace internal

template <class N, class... M>
auto InSpan(N const& name, M const&... matchers) {
  return testing::ResultOf("list of the spans around it", internal::spans_around,
                           testing::Contains(Span(name, matchers...)));
}

}}  // namespace testlog::v1

/// Checks the number of spans with this name (a text or a matcher) in the running test: EXPECT_SPAN_COUNT("compile",
/// Le(1)).
#define EXPECT_SPAN_COUNT(name, count) \
  EXPECT_THAT(::testlog::records(),    \
              ::testing::ResultOf("number of such spans", ::testlog::internal::counter(::testlog::Span(name)), count))
/// Checks the number of events that match `event` in the running test: EXPECT_EVENT_COUNT(Event(HasLevel(Level::warn)),
/// 0).
#define EXPECT_EVENT_COUNT(event, count) \
  EXPECT_THAT(::testlog::records(),      \
              ::testing::ResultOf("number of such events", ::testlog::internal::counter(event), count))

namespace testlog { inline namespace v1 { namespace internal {

// Returns a function that counts the records that match.
template <class M>
auto counter(M const& matcher) {
  testing::Matcher<Record const&> const each = matcher;
  return [each](Records const& all) {
    return std::count_if(all.begin(), all.end(), [&each](Record const& record) { return each.Matches(record); });
  };
}

}}}  // namespace testlog::v1::internal
