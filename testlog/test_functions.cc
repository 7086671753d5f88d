// The functions of records.h, perf.h and allow_events.h that concern the running test, and therefore need the session
// of the process.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "testlog/allow_events.h"
#include "testlog/capture/record_of.h"
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
  Records all;
  Session* const session = Session::get();
  if (session == nullptr) return all;
  Capture const& capture = session->capture();
  if (std::string const why = capture.why_incomplete(); !why.empty())
    ADD_FAILURE_AT(file, line) << "testlog::records() does not have all records of the test: " << why << ".";
  auto const recording = capture.read(capture.begin_of_test());
  if (recording == nullptr) return all;
  Attribution const& attribution = session->attribution();
  tracing::recording::Spans spans;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    spans.follow(entry);
    bool const is_record = entry.type == tracing::recording::EntryType::event || begins_span(entry.type);
    if (!is_record || entry.ticks < capture.begin_of_test()) return;
    Owner const owner = attribution.owner_of(entry, spans.current());
    if (!owner.late && owner.test == attribution.running()) all.push_back(record_of(entry, spans.current()));
  });
  return all;
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

AllowEvents::AllowEvents(internal::AllowedEvents matcher) : matcher_(std::move(matcher)) {
  if (Session* const session = Session::get()) session->fail_on().allow(matcher_);
}

AllowEvents::~AllowEvents() {
  if (Session* const session = Session::get()) session->fail_on().disallow(matcher_);
}

tracing::PerfSummary perf_summary() {
  Session* const started = Session::get();
  return started == nullptr ? tracing::PerfSummary() : started->perf().of_test();
}

}}  // namespace testlog::v1
