// AllowEvents: events that .fail_on and TRACE_FAIL_ON ignore for a scope.
#pragma once

#include <gtest/gtest-matchers.h>

#include "testlog/records.h"

namespace testlog { inline namespace v1 {
namespace internal {

using AllowedEvents = testing::Matcher<Record const&>;

}  // namespace internal

/// While it exists, events that match do not fail a test by `.fail_on` or TRACE_FAIL_ON, on whatever thread they
/// happen:
///
///     testlog::AllowEvents allow(Event(HasTarget("gpu"), HasMessage(HasSubstr("is slow"))));
///
/// The matcher is called on the threads that emit, one at a time, and must not throw. Thread-safe.
class [[nodiscard]] AllowEvents {
 public:
  explicit AllowEvents(internal::AllowedEvents matcher);
  AllowEvents(AllowEvents const&) = delete;
  AllowEvents& operator=(AllowEvents const&) = delete;
  ~AllowEvents();

 private:
  internal::AllowedEvents const matcher_;
};

}}  // namespace testlog::v1
