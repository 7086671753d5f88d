// GoogleTest's macros with testlog: fixtures, parameterised and typed tests, settings, and assertions on what the
// library recorded. One test fails on purpose, for its report.
#include <cstddef>
#include <string>
#include <vector>

#include <testlog/matchers.h>
#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

namespace ring {

// The tested library: a ring that keeps the first values that are pushed.
template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity) : capacity_(capacity) {}

  bool push(T const& value) {
    TRACE_SPAN(debug, "push", value);
    if (values_.size() == capacity_) {
      TRACE_WARN("full", tracing::kv("capacity", capacity_));
      return false;
    }
    values_.push_back(value);
    TRACE_TRACE("stored", tracing::kv("size", values_.size()));
    return true;
  }

  T sum() const {
    TRACE_PERF("sum", tracing::kv("values", values_.size()));
    T sum{};
    for (T const& value : values_) sum += value;
    return sum;
  }

 private:
  std::size_t capacity_;
  std::vector<T> values_;
};

}  // namespace ring

namespace {

using ring::Ring;
using testing::Contains, testing::Le;
using testlog::Event, testlog::HasField, testlog::HasLevel, testlog::HasMessage, testlog::InSpan;

// Shows the events, unless TRACE_FILTER selects others.
TEST_LOG(Ring, ShowsWhatItDoes, .default_filter = "ring=trace") {
  Ring<int> ring(1);
  ring.push(7);
  ring.push(8);
}

class RingOfTwo : public testing::Test {
 protected:
  Ring<int> ring_{2};
};

// Asserts on records, which need not be shown.
TEST_LOG_F(RingOfTwo, WarnsIfItIsFull, .default_filter = "off") {
  for (int value : {1, 2, 3}) ring_.push(value);
  EXPECT_THAT(testlog::records(), Contains(Event(HasLevel(tracing::Level::warn), HasMessage("full"),
                                                 HasField("capacity", 2), InSpan("push", HasField("value", 3)))));
  EXPECT_SPAN_COUNT("push", 3);
  EXPECT_EVENT_COUNT(Event(HasLevel(tracing::Level::error)), 0);
}

class Sizes : public testing::TestWithParam<int> {};

// Fails at its end if an event is a warning or worse.
TEST_LOG_P(Sizes, HoldAsManyAsTheySay, .fail_on = warn) {
  Ring<int> ring(static_cast<std::size_t>(GetParam()));
  for (int value = 0; value < GetParam(); ++value) ring.push(value);
  EXPECT_SPAN_COUNT("push", Le(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Small, Sizes, testing::Values(1, 3));

template <class T>
class Typed : public testing::Test {};
using Types = testing::Types<int, std::string>;
TYPED_TEST_SUITE(Typed, Types);

TYPED_TEST_LOG(Typed, RecordsTheValue, .default_filter = "ring=trace") {
  Ring<TypeParam> ring(1);
  ring.push(TypeParam{});
}

// Perf spans are on in this test.
TEST_LOG(Ring, AddsItsValuesOnce, .perf = true) {
  Ring<int> ring(2);
  ring.push(40);
  ring.push(2);
  EXPECT_EQ(ring.sum(), 42);
  EXPECT_SPAN_COUNT("sum", 1);
}

// The test pushes more values than the ring holds. Only the warning shows it, and so the test fails.
TEST_LOG(Ring, HoldsThreeValues, .fail_on = warn) {
  Ring<int> ring(2);
  for (int value : {1, 2, 3}) ring.push(value);
}

}  // namespace
