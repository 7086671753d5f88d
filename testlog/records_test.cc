#include "testlog/records.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testlog/matchers.h"
#include "testlog/session.h"
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

TEST(Records, AreReadOnceAndShared) {
  for (int i = 0; i < 100; ++i) TRACE_DEBUG("before", i);
  Records const before = records();
  for (int i = 0; i < 100; ++i) TRACE_DEBUG("after", i);
  Records const all = records();
  ASSERT_THAT(before, SizeIs(100));
  ASSERT_THAT(all, SizeIs(200));
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(&before[i], &all[i]);
  EXPECT_EQ(before.back().message, "before");
  EXPECT_EQ(all.back().field("i")->text(), "99");
  EXPECT_EQ(&records().front(), &all.front());
}

TEST(Records, AreARange) {
  for (int i = 0; i < 40; ++i) TRACE_DEBUG("n", i);
  Records const all = records();
  ASSERT_EQ(all.end() - all.begin(), 40);
  int next = 0;
  for (Record const& record : all) EXPECT_EQ(record.field("i")->text(), std::to_string(next++));
  for (auto record = all.rbegin(); record != all.rend(); ++record)
    EXPECT_EQ(record->field("i")->text(), std::to_string(--next));
  EXPECT_EQ(&all.begin()[39], &all.back());
  EXPECT_EQ(&*(all.end() - 40), &all.front());
  EXPECT_THROW(all.at(40), std::out_of_range);
  EXPECT_TRUE(Records().empty());
  std::vector<Record> const copied = all;
  EXPECT_THAT(copied, SizeIs(40));
}

TEST(Records, AfterAMarkAreSharedToo) {
  for (int i = 0; i < 20; ++i) TRACE_DEBUG("before");
  Mark const place = mark();
  for (int i = 0; i < 20; ++i) TRACE_DEBUG("after");
  Records const all = records();
  Records const after = all.since(place);
  ASSERT_THAT(after, SizeIs(20));
  EXPECT_EQ(&after.front(), &all[20]);
  EXPECT_EQ(&after.back(), &all.back());
  EXPECT_THAT(all.since(mark()), SizeIs(0));
}

// All that a record says.
std::vector<std::string> texts_of(Records const& records) {
  std::vector<std::string> texts;
  for (Record const& record : records) {
    std::ostringstream out;
    out << record.number << ' ' << record.time.ns << ' ' << record.thread << ' ' << record.thread_number << ' '
        << record.file << ':' << record.line << ' ' << record;
    texts.push_back(out.str());
  }
  return texts;
}

// The same records, read at once.
std::vector<std::string> texts_at_once() {
  Session& session = *Session::get();
  return texts_of(TestRecords(session.capture(), session.attribution()).read());
}

// More than a chunk, with spans that stay open.
void emit_many(int from, tracing::Span const& shared) {
  TRACE_SPAN(debug, "many", from);
  for (int i = 0; i < 300; ++i) {
    TRACE_SPAN(debug, "step", i);
    TRACE_DEBUG("inside", tracing::kv("text", std::string(static_cast<std::size_t>(i % 50), 'x')));
    if (i % 100 == 0) shared.record(tracing::kv("progress", from + i));
  }
}

TEST(Records, AreTheSameHoweverOftenTheyWereRead) {
  TRACE_SPAN(debug, "outermost");
  tracing::Span const shared = TRACE_MAKE_SPAN(debug, "shared", tracing::kv("progress", tracing::empty));
  for (int phase = 0; phase < 6; ++phase) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&shared, phase] {
        auto const inside = shared.enter();
        emit_many(1000 * phase, shared);
      });
    }
    auto const inside = shared.enter();
    emit_many(1000 * phase, shared);
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(texts_of(records()), texts_at_once()) << phase;
  }
}

void emit_and_read_below(int levels) {
  TRACE_SPAN(debug, "level", levels);
  if (levels > 0) emit_and_read_below(levels - 1);
  if (levels % 50 == 0) {
    EXPECT_FALSE(records().empty());
  }
  TRACE_DEBUG("leaves", tracing::kv("text", std::string(100, 'x')));
}

// Chunks describe only the innermost 100 spans.
TEST(Records, HaveAllSpansAfterEarlierCalls) {
  emit_and_read_below(300);
  Records const all = records();
  EXPECT_THAT(all.back().spans, SizeIs(1));
  EXPECT_THAT(all[301].spans, SizeIs(301));
  EXPECT_EQ(texts_of(all), texts_at_once());
}

TEST(Records, MayBeReadWhileThreadsRecord) {
  std::atomic<int> running{3};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&running, i] {
      for (int n = 0; n < 2000; ++n) TRACE_DEBUG("n", n);
      if (i == 0) {
        EXPECT_FALSE(records().empty());
      }
      --running;
    });
  }
  while (running > 0) {
    Records const some = records();
    for (std::size_t i = 1; i < some.size(); ++i) ASSERT_LE(some[i - 1].number, some[i].number);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(records(), SizeIs(6000));
  EXPECT_EQ(texts_of(records()), texts_at_once());
}

}}  // namespace testlog
