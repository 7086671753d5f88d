// A profile of what a test does, beside what testlog captures of it.
#include <gmock/gmock.h>
#include <testlog/matchers.h>
#include <testlog/records.h>
#include <testlog/testlog.h>

#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tracing_core/profile/profiler.h"
#include "tracing_core/tracing.h"

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string profile_of(auto f) {
  tracing_test::TemporaryFolder const folder;
  tracing::with_profiler(folder / "", f, {.run = "run", .host_name = "machine", .print = false});
  return folder.read("plugins/profile/run/machine.pftrace");
}

TEST(WithProfiler, HasWhatTestlogCapturesToo) {
  std::string const trace = profile_of([] {
    TRACE_SPAN(info, "shared_span");
    std::thread([] { TRACE_INFO("on another thread"); }).join();
  });
  EXPECT_THAT(trace, HasSubstr("shared_span"));
  EXPECT_THAT(trace, HasSubstr("on another thread"));
  EXPECT_SPAN_COUNT("shared_span", 1);
  EXPECT_THAT(testlog::records(), Contains(testlog::Event(testlog::HasMessage("on another thread"))));
}

TEST(WithProfiler, AloneHasAnnotations) {
  std::string const trace = profile_of([] { TRACE_ANNOTATE("only_in_the_profile"); });
  EXPECT_THAT(trace, HasSubstr("only_in_the_profile"));
  EXPECT_SPAN_COUNT("only_in_the_profile", 0);
}

TEST(WithProfiler, LeavesCapturedSpansAsTheyWere) {
  TRACE_SPAN(info, "around");
  (void)profile_of([] {
    TRACE_SPAN(info, "within");
    TRACE_INFO("event");
  });
  TRACE_INFO("after");
  EXPECT_THAT(testlog::records(), Contains(testlog::Event(testlog::HasMessage("event"), testlog::InSpan("around"))));
  EXPECT_THAT(testlog::records(),
              Contains(testlog::Event(testlog::HasMessage("after"), Not(testlog::InSpan("within")))));
}

}  // namespace
