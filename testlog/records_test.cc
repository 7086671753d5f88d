#include "testlog/records.h"

#include <cstdint>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testlog/matchers.h"
#include "tracing_core/tracing.h"

namespace testlog { namespace {

using testing::Gt;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(FieldValue, ComparesSignedAndUnsignedIntegersByValue) {
  EXPECT_NE(FieldValue(kMax), FieldValue(-1));
  EXPECT_NE(FieldValue(-1), FieldValue(kMax));
  EXPECT_LT(FieldValue(-1), FieldValue(kMax));
  EXPECT_GT(FieldValue(kMax), FieldValue(-1));
  EXPECT_EQ(FieldValue(3u), FieldValue(3));
  EXPECT_EQ(FieldValue(3), FieldValue(3.0));
}

TEST(FieldValue, TreatsACharacterAsText) {
  EXPECT_EQ(FieldValue('a'), FieldValue("a"));
  EXPECT_NE(FieldValue('a'), FieldValue(97));
}

TEST(FieldValue, DoesNotOrderDifferentKinds) {
  EXPECT_NE(FieldValue(true), FieldValue(1));
  EXPECT_NE(FieldValue("1"), FieldValue(1));
  EXPECT_FALSE(FieldValue("1") < FieldValue(2) || FieldValue("1") > FieldValue(2));
}

TEST(Records, HaveTheRecordedValues) {
  TRACE_INFO("written", tracing::kv("most", kMax), tracing::kv("least", -1), tracing::kv("letter", 'a'),
             tracing::kv("third", 1.0f / 3), tracing::kv("text", "b"), tracing::kv("yes", true));
  Record const record = records().back();
  EXPECT_THAT(record, HasField("most", kMax));
  EXPECT_THAT(record, Not(HasField("most", -1)));
  EXPECT_THAT(record, HasField("most", Gt(0)));
  EXPECT_THAT(record, HasField("least", Lt(0u)));
  EXPECT_THAT(record, HasField("letter", 'a'));
  EXPECT_THAT(record, HasField("third", 1.0f / 3));
  EXPECT_THAT(record, HasField("text", "b"));
  EXPECT_THAT(record, HasField("yes", true));
}

void emit_below(int levels) {
  TRACE_SPAN(debug, "level", levels);
  if (levels > 0) return emit_below(levels - 1);
  TRACE_DEBUG("bottom");
}

TEST(Records, ArePrintedWithoutControlCharacters) {
  Record record;
  record.level = tracing::Level::info;
  record.spans = {{"s\x1b", "t", tracing::Level::info, {{"a", FieldValue("1\n\x1b")}}}};
  record.target = "t";
  record.message = "one\ntwo\x1b[31m";
  record.fields = {{"b", FieldValue::printed("x\ny")}};
  std::ostringstream out;
  out << record;
  EXPECT_EQ(out.str(), "INFO s\\x1b{a=\"1\\n\\u{1b}\"}: t: one\\ntwo\\x1b[31m b=x\\ny");
}

TEST(Records, ListEnclosingSpansOutermostFirst) {
  emit_below(199);
  Record const record = records().back();
  ASSERT_THAT(record.spans, SizeIs(200));
  EXPECT_EQ(record.spans.front().fields.at(0).value, FieldValue(199));
  EXPECT_EQ(record.spans.back().fields.at(0).value, FieldValue(0));
}

}}  // namespace testlog
