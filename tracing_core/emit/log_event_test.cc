#include "tracing_core/emit/log_event.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace log_event_test { namespace {

using tracing::Level;
using tracing::log_event;

TEST(LogEvent, HasWhatTheLoggerSaysOfIt) {
  tracing_test::Recording recording;
  TRACE_SPAN(info, "request");
  recording->take();
  log_event(Level::warn, "net", "page {} took long", "src/net.cc", 12);
  EXPECT_EQ(recording->take(), (std::vector<std::string>{"event WARN net message=page {} took long"}));
  tracing::Metadata const& metadata = *recording->last_event();
  EXPECT_EQ(metadata.file(), "src/net.cc");
  EXPECT_EQ(metadata.line(), 12U);
}

TEST(LogEvent, HasNoPlaceIfThatIsUnknown) {
  tracing_test::Recording recording;
  log_event(Level::error, "net", "broken");
  EXPECT_EQ(recording->take(), (std::vector<std::string>{"event ERROR net message=broken"}));
  EXPECT_EQ(recording->last_event()->file(), "");
  EXPECT_EQ(recording->last_event()->line(), 0U);
  log_event(Level::error, "net", "broken", nullptr, 3);
  log_event(Level::error, "net", "broken", "net.cc", -1);
  EXPECT_EQ(recording->last_event()->line(), 0U);
}

TEST(LogEvent, IsOneCallsiteForEachPlace) {
  tracing_test::Recording recording;
  log_event(Level::info, "a", "1", "a.cc", 1);
  tracing::Metadata const* const first = recording->last_event();
  log_event(Level::info, "a", "2", std::string("a.cc").c_str(), 1);
  EXPECT_EQ(recording->last_event(), first);
  log_event(Level::info, "a", "3", "a.cc", 2);
  EXPECT_NE(recording->last_event(), first);
}

TEST(LogEvent, WorksWithMorePlacesThanAreKept) {
  tracing_test::Recording recording;
  for (int i = 0; i < 5000; ++i) log_event(Level::info, "made up " + std::to_string(i), "text");
  EXPECT_EQ(recording->take().size(), 5000U);
}

TEST(LogEvent, EmitsNothingWithinASubscriber) {
  tracing_test::Recording recording;
  recording->on_event = [] { log_event(Level::info, "layer", "inside"); };
  log_event(Level::info, "layer", "outside");
  recording->on_event = nullptr;
  EXPECT_EQ(recording->take(), (std::vector<std::string>{"event INFO layer message=outside"}));
}

}}  // namespace log_event_test
