// Declares Mock, a subscriber or layer that compares the records it gets with a list of expected ones.
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

/// Says how a mock's expectations were met. Copies speak of the same mock. Thread-safe.
class MockHandle {
 public:
  explicit MockHandle(std::shared_ptr<internal::Script> script) noexcept : script_(std::move(script)) {}

  /// Empty where all expected records came and, after only(), no other. Else a text for people: the first record that was not
  /// as expected, what was expected at its place, and which are still to come.
  std::string failure() const;
  bool finished() const { return failure().empty(); }

 private:
  std::shared_ptr<internal::Script> script_;
};

/// A list of expected records, in order. Enters, exits, events, record() and follows_from() have to come as listed; new spans
/// and closes are compared only where the list has one at that place, else passed over. What comes after the last one is
/// welcome, unless only() ends the list. Records are compared from all threads in the order in which they come.
class Mock {
 public:
  Mock();

  Mock&& new_span(ExpectedSpan span) &&;
  Mock&& enter(ExpectedSpan span) &&;
  Mock&& exit(ExpectedSpan span) &&;
  Mock&& close(ExpectedSpan span) &&;
  /// Fields are those recorded.
  Mock&& record(ExpectedSpan span) &&;
  Mock&& follows_from(ExpectedSpan span, ExpectedSpan cause) &&;
  Mock&& event(ExpectedEvent event) &&;
  /// Nothing else may come, new spans and closes included.
  Mock&& only() &&;
  /// The mock sees what this lets pass.
  Mock&& with_filter(std::unique_ptr<Filter> filter) &&;

  std::pair<std::shared_ptr<Registry>, MockHandle> run_with_handle() &&;
  /// For a registry of one's own; with_filter() does not count.
  std::pair<std::unique_ptr<Layer>, MockHandle> layer_with_handle() &&;

 private:
  std::shared_ptr<internal::Script> script_;
  std::unique_ptr<Filter> filter_;
};

inline Mock expecting() { return {}; }

}  // namespace tracing::inline v1::mock
