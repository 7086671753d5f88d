// The functions of records.h, perf.h and allowed_events.h that concern the running test, and therefore need the session
// of the process.
#include <string>
#include <string_view>
#include <utility>

#include "testlog/allowed_events.h"
#include "testlog/framework.h"
#include "testlog/perf.h"
#include "testlog/records.h"
#include "testlog/session.h"
#include "tracing_core/dispatch/dispatcher.h"

namespace testlog { inline namespace v1 {

Mark mark() noexcept {
  Session* const session = Session::get();
  return {session == nullptr ? 0 : session->capture().now()};
}

Records records(char const* file, int line) {
  Session* const session = Session::get();
  if (session == nullptr) return {};
  if (std::string const why = session->capture().why_incomplete(); !why.empty())
    framework::current().raise_failure(file, line,
                                       "testlog::records() does not have all records of the test: " + why + ".");
  return session->test_records().read();
}

void serve_all_tests() {
  if (Session* const session = Session::get()) session->attribution().serve_all_tests();
}

bool set_filter(std::string_view directives) {
  Session* const session = Session::get();
  return session == nullptr || session->live().set_filter(directives);
}

ScopedFilter::ScopedFilter(std::string_view directives)
    : before_(Session::get() == nullptr ? std::string() : Session::get()->live().filter().directives()) {
  set_filter(directives);
}

ScopedFilter::~ScopedFilter() {
  Session* const session = Session::get();
  if (session != nullptr && session->live().filter().set(before_, nullptr)) tracing::rebuild_interest();
}

AllowedEvents::AllowedEvents(std::function<bool(Record const&)> allows) : allows_(std::move(allows)) {
  if (Session* const session = Session::get()) session->fail_on().allow(*this);
}

AllowedEvents::~AllowedEvents() {
  if (Session* const session = Session::get()) session->fail_on().disallow(*this);
}

tracing::PerfSummary perf_summary() {
  Session* const started = Session::get();
  return started == nullptr ? tracing::PerfSummary() : started->perf().of_test();
}

}}  // namespace testlog::v1
