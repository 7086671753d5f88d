#include "tracing_core/mock/mock.h"

#include <gtest/gtest.h>

#include <string>

#include "tracing_core/tracing.h"

namespace mock_test {

namespace mock = tracing::mock;
using tracing::Level;

void serve(int id) {
  TRACE_SPAN(info, "request", id, tracing::kv("status", tracing::empty));
  TRACE_DEBUG("started {}", id, tracing::kv("path", "/"));
}

mock::Mock serving() {
  return mock::expecting()
      .new_span(mock::span("request").at_level(Level::info).with_field("id", 7).with_only_these_fields().at_root())
      .enter(mock::span("request").with_target("mock_test"))
      .event(mock::event().at_level(Level::debug).with_message("started 7").with_field("path", "/").inside("request"))
      .exit(mock::span("request"))
      .close(mock::span().named("request"));
}

TEST(Mock, IsContentWhenAllComesAsExpected) {
  auto [subscriber, handle] = serving().only().run_with_handle();
  EXPECT_NE(handle.failure(), "");
  tracing::with_default(subscriber, [] { serve(7); });
  EXPECT_EQ(handle.failure(), "");
}

TEST(Mock, PassesOverNewSpansAndClosesThatAreNotListed) {
  auto [subscriber, handle] = mock::expecting().event(mock::event()).event(mock::event().at_root()).run_with_handle();
  tracing::with_default(subscriber, [] {
    auto const span = TRACE_MAKE_SPAN(info, "passed over");
    TRACE_INFO("first", tracing::parent(span));
    TRACE_INFO("second");
    TRACE_INFO("whatever comes after the last");
  });
  EXPECT_EQ(handle.failure(), "");
}

TEST(Mock, ComparesRecordsAndCauses) {
  auto [subscriber, handle] = mock::expecting()
                                  .record(mock::span("a").with_field("late", 3).with_only_these_fields())
                                  .follows_from(mock::span("a"), mock::span("b"))
                                  .close(mock::span("b"))
                                  .close(mock::span("a").with_field("early", 1).with_field("late", 3))
                                  .only()
                                  .run_with_handle();
  tracing::with_default(subscriber, [] {
    auto const a = TRACE_MAKE_SPAN(info, "a", tracing::kv("early", 1), tracing::kv("late", tracing::empty));
    auto const b = TRACE_MAKE_SPAN(info, "b");
    a.record(tracing::kv("late", 3));
    a.follows_from(b);
  });
  EXPECT_EQ(handle.failure(), "");
}

struct Case {
  char const* what;
  mock::Mock mock;
  std::string failure;  // its beginning
};

TEST(Mock, SaysWhatIsWrong) {
  std::string const event_line = "\n  came:     event at level DEBUG with target \"mock_test\" message=started 7 path=\"/\", below \"request\", at ";
  Case cases[] = {
      {"another kind", mock::expecting().enter(mock::span()).exit(mock::span("request")),
       "record 3 is not expectation 2 of 2\n  expected: exit of span \"request\"" + event_line},
      {"another message", mock::expecting().enter(mock::span()).event(mock::event().with_message("stopped")),
       "record 3 is not expectation 2 of 2: message is \"started 7\", not \"stopped\"\n  expected: event \"stopped\"" + event_line},
      {"another value", mock::expecting().enter(mock::span()).event(mock::event().with_field("path", "/x")),
       "record 3 is not expectation 2 of 2: field path is \"/\", not \"/x\"\n  expected: event with field path=\"/x\"" + event_line},
      {"a missing field", mock::expecting().enter(mock::span()).event(mock::event().with_field("other")),
       "record 3 is not expectation 2 of 2: field other was not recorded\n"},
      {"one field too many", mock::expecting().enter(mock::span()).event(mock::event().with_only_these_fields()),
       "record 3 is not expectation 2 of 2: field path was recorded too\n"},
      {"another level", mock::expecting().enter(mock::span("request").at_level(Level::warn)),
       "record 2 is not expectation 1 of 1: level is INFO, not WARN\n  expected: enter of span \"request\" at level WARN\n"
       "  came:     enter of span \"request\" at level INFO with target \"mock_test\" id=7, below no span, at "},
      {"another name", mock::expecting().new_span(mock::span("reply")), "record 1 is not expectation 1 of 1: name is \"request\", not \"reply\"\n"},
      {"another parent", mock::expecting().new_span(mock::span().below("session")),
       "record 1 is not expectation 1 of 1: the span it stands below is none, not \"session\"\n"},
      {"a parent", mock::expecting().enter(mock::span()).event(mock::event().at_root()),
       "record 3 is not expectation 2 of 2: the span it stands below is \"request\", not none\n"},
      {"more than expected", mock::expecting().enter(mock::span()).only(), "record 3 is not expectation 2 of 2\n  expected: nothing more" + event_line},
      {"less than expected", serving().event(mock::event().with_message("more")).only(),
       "after 5 records, of 7 expectations these are still to come:\n  6: event \"more\""},
  };
  for (Case& c : cases) {
    auto [subscriber, handle] = std::move(c.mock).run_with_handle();
    tracing::with_default(subscriber, [] { serve(7); });
    EXPECT_EQ(handle.failure().substr(0, c.failure.size()), c.failure) << c.what;
  }
}

TEST(Mock, IsALayerToo) {
  auto [layer, handle] = serving().layer_with_handle();
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), [] { serve(7); });
  EXPECT_EQ(handle.failure(), "");
}

}  // namespace mock_test
