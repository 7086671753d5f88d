// Mock: a subscriber or layer that compares the records it receives with a list of expected ones.
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

namespace tracing::inline v1::mock {

namespace internal {
struct Script;
}

/// The result of a mock. Copies refer to the same mock. Thread-safe.
class MockHandle {
 public:
  explicit MockHandle(std::shared_ptr<internal::Script> script) noexcept : script_(std::move(script)) {}

  /// Empty if all expected records were received and, after only(), no others. Otherwise describes the first record
  /// that does not match and the one that was expected instead, or lists the expectations that are not met yet.
  std::string failure() const;
  bool finished() const { return failure().empty(); }

 private:
  std::shared_ptr<internal::Script> script_;
};

/// A list of expected records, in order. Enters, exits, events, record() and follows_from() must be received as listed.
/// New spans and closes are ignored unless the list has one at that position. Records after the last expected one are
/// accepted, unless only() ends the list. Records of all threads are compared, in the order in which they are received.
class Mock {
 public:
  Mock();

  Mock&& new_span(ExpectedSpan span) &&;
  Mock&& enter(ExpectedSpan span) &&;
  Mock&& exit(ExpectedSpan span) &&;
  Mock&& close(ExpectedSpan span) &&;
  /// The fields are those of the record() call.
  Mock&& record(ExpectedSpan span) &&;
  Mock&& follows_from(ExpectedSpan span, ExpectedSpan cause) &&;
  Mock&& event(ExpectedEvent event) &&;
  /// No other records are accepted, not even new spans and closes.
  Mock&& only() &&;
  /// The mock receives only what this filter lets pass.
  Mock&& with_filter(std::unique_ptr<Filter> filter) &&;

  std::pair<std::shared_ptr<Registry>, MockHandle> run_with_handle() &&;
  /// For use in another registry. Ignores with_filter().
  std::pair<std::unique_ptr<Layer>, MockHandle> layer_with_handle() &&;

 private:
  std::shared_ptr<internal::Script> script_;
  std::unique_ptr<Filter> filter_;
};

inline Mock expecting() { return {}; }

}  // namespace tracing::inline v1::mock
