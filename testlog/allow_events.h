// AllowEvents: events that .fail_on and TRACE_FAIL_ON ignore for a scope, as a matcher of GoogleTest selects them.
#pragma once

#include <gtest/gtest-matchers.h>

#include <utility>

#include "testlog/allowed_events.h"

namespace testlog { inline namespace v1 {

/// While it exists, events that match do not fail a test by `.fail_on` or TRACE_FAIL_ON, on whatever thread they
/// happen:
///
///     testlog::AllowEvents allow(Event(HasTarget("gpu"), HasMessage(HasSubstr("is slow"))));
///
/// The matcher is called on the threads that emit, one at a time, and must not throw. Thread-safe.
class [[nodiscard]] AllowEvents {
 public:
  explicit AllowEvents(testing::Matcher<Record const&> matcher)
      : allowed_([matcher = std::move(matcher)](Record const& event) { return matcher.Matches(event); }) {}

 private:
  AllowedEvents const allowed_;
};

}}  // namespace testlog::v1
