// Mock: a subscriber or layer that compares the records that it receives with a list of expected records.
//
//     auto [subscriber, handle] = tracing::mock::expecting()
//                                     .new_span(mock::span("request").with_field("id", 7))
//                                     .enter(mock::span("request"))
//                                     .event(mock::event().with_message("started").inside("request"))
//                                     .exit(mock::span("request"))
//                                     .close(mock::span("request"))
//                                     .only()
//                                     .run_with_handle();
//     tracing::with_default(subscriber, [] { serve(7); });
//     EXPECT_EQ(handle.failure(), "");
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/mock/expect.h"

namespace tracing { inline namespace v1 { namespace mock {

namespace internal {
struct Script;
}

/// The result of a mock. Copies refer to the same mock. Thread-safe.
class MockHandle {
 public:
  explicit MockHandle(std::shared_ptr<internal::Script> script) noexcept : script_(std::move(script)) {}

  /// Returns an empty text if all expected records were received and, after only(), no other records. Otherwise
  /// describes the first record that does not match and the expected record, or lists the expectations that are not met
  /// yet.
  std::string failure() const;
  bool finished() const { return failure().empty(); }

 private:
  std::shared_ptr<internal::Script> script_;
};

/// A list of expected records, in order. Enters, exits, events, record() and follows_from() must be received as listed.
/// A new span is ignored unless the list has a new span at that position, and a close is ignored unless the list has a
/// close there. Records after the last expected record are accepted, unless only() ends the list. Records of all
/// threads are compared, in the order in which they are received.
class Mock {
 public:
  Mock();

  Mock&& new_span(ExpectedSpan span) &&;
  Mock&& enter(ExpectedSpan span) &&;
  Mock&& exit(ExpectedSpan span) &&;
  Mock&& close(ExpectedSpan span) &&;
  /// Compares the fields of the record() call.
  Mock&& record(ExpectedSpan span) &&;
  Mock&& follows_from(ExpectedSpan span, ExpectedSpan cause) &&;
  Mock&& event(ExpectedEvent event) &&;
  /// Accepts no other records, not even new spans and closes.
  Mock&& only() &&;
  /// Makes the mock receive only what this filter lets pass.
  Mock&& with_filter(std::unique_ptr<Filter> filter) &&;

  std::pair<std::shared_ptr<Registry>, MockHandle> run_with_handle() &&;
  /// For use in another registry. Ignores with_filter().
  std::pair<std::unique_ptr<Layer>, MockHandle> layer_with_handle() &&;

 private:
  std::shared_ptr<internal::Script> script_;
  std::unique_ptr<Filter> filter_;
};

inline Mock expecting() { return {}; }

}}}  // namespace tracing::v1::mock
