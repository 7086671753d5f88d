#include "tracing_core/mock/mock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/approval.h"
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

TEST(Mock, HasNoFailureIfAllRecordsMatch) {
  auto [subscriber, handle] = serving().only().run_with_handle();
  EXPECT_NE(handle.failure(), "");
  tracing::with_default(subscriber, [] { serve(7); });
  EXPECT_EQ(handle.failure(), "");
}

TEST(Mock, IgnoresNewSpansAndClosesThatAreNotListed) {
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
};

// Removes the folders and the line number from the source location at the end: ", at mock_test.cc".
std::string without_line(std::string const& failure) {
  std::size_t const place = failure.rfind(", at ");
  if (place == std::string::npos) return failure;
  std::size_t const name = std::max(place + 5, failure.rfind('/') + 1);
  return failure.substr(0, place + 5) + failure.substr(name, failure.rfind(':') - name);
}

TEST(Mock, DescribesTheFirstMismatch) {
  Case cases[] = {
      {"another kind", mock::expecting().enter(mock::span()).exit(mock::span("request"))},
      {"another message", mock::expecting().enter(mock::span()).event(mock::event().with_message("stopped"))},
      {"another value", mock::expecting().enter(mock::span()).event(mock::event().with_field("path", "/x"))},
      {"a missing field", mock::expecting().enter(mock::span()).event(mock::event().with_field("other"))},
      {"one field too many", mock::expecting().enter(mock::span()).event(mock::event().with_only_these_fields())},
      {"another level", mock::expecting().enter(mock::span("request").at_level(Level::warn))},
      {"another target", mock::expecting().new_span(mock::span().with_target("elsewhere"))},
      {"another name", mock::expecting().new_span(mock::span("reply"))},
      {"another parent", mock::expecting().new_span(mock::span().below("session"))},
      {"a parent", mock::expecting().enter(mock::span()).event(mock::event().at_root())},
      {"another record()", mock::expecting().record(mock::span("request").with_field("status", 200))},
      {"another cause", mock::expecting().follows_from(mock::span("request"), mock::span("connect"))},
      {"more than expected", mock::expecting().enter(mock::span()).only()},
      {"less than expected", serving().event(mock::event().with_message("more")).only()},
  };
  std::string text;
  for (Case& c : cases) {
    auto [subscriber, handle] = std::move(c.mock).run_with_handle();
    tracing::with_default(subscriber, [] { serve(7); });
    text += std::string(c.what) + ": " + without_line(handle.failure()) + "\n";
  }
  tracing::testing::expect_approved("failures.txt", text);
}

TEST(Mock, CanBeALayerOfAnotherRegistry) {
  auto [layer, handle] = serving().layer_with_handle();
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), [] { serve(7); });
  EXPECT_EQ(handle.failure(), "");
}

}  // namespace mock_test
