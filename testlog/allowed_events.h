// AllowedEvents: events that .fail_on and TRACE_FAIL_ON ignore for a scope, as any function selects them.
#pragma once

#include <functional>

#include "testlog/records.h"

namespace testlog { inline namespace v1 {

/// While it exists, events for which `allows` returns true do not fail a test by `.fail_on` or TRACE_FAIL_ON, on
/// whatever thread they happen. The function is called on the threads that emit, one at a time, and must not throw.
/// Thread-safe.
class [[nodiscard]] AllowedEvents {
 public:
  explicit AllowedEvents(std::function<bool(Record const&)> allows);
  AllowedEvents(AllowedEvents const&) = delete;
  AllowedEvents& operator=(AllowedEvents const&) = delete;
  ~AllowedEvents();

  bool operator()(Record const& event) const { return allows_(event); }

 private:
  std::function<bool(Record const&)> const allows_;
};

}}  // namespace testlog::v1
