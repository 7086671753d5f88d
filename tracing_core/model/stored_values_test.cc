#include "tracing_core/model/stored_values.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/model/metadata.h"

namespace tracing { namespace {

constexpr std::size_t kFields = 4;

// Describes a span with the fields a, b, c, d.
Metadata const& metadata() {
  static constexpr internal::FieldEntry fields[] = {
      internal::field_entry(0, "a", 1, 0), internal::field_entry(1, "b", 1, 1), internal::field_entry(2, "c", 1, 2),
      internal::field_entry(3, "d", 1, 3)};
  static constexpr Metadata made([] {
    internal::MetadataParts parts;
    parts.text = "abcd";
    parts.fields = fields;
    parts.field_count = kFields;
    parts.value_count = kFields;
    parts.kind = Kind::span;
    return parts;
  }());
  return made;
}

using Values = std::array<Value, kFields>;

FieldValues fields_of(Values const& values) { return FieldValues(metadata(), values.data()); }

void update(StoredValues& stored, Values const& values, bool keep_all = false) {
  StoredValues added;
  added.add(fields_of(values));
  stored.update(metadata(), added, keep_all);
}

// Prints groups as `a=1 b="x"|c=2`.
std::string text_of(FieldValues const& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    InlineTextBuffer<64> value;
    append_debug(value, values.value(i));
    text.append(text.empty() ? "" : " ").append(values.name(i)).append("=").append(value.view());
  }
  return text;
}
std::string groups_of(StoredValues const& stored) {
  std::string text;
  stored.for_each_group(metadata(), [&](FieldValues const& group) { text += text_of(group) + "|"; });
  return text;
}
std::string last_of(StoredValues const& stored) {
  std::string text;
  stored.for_each_last_group(metadata(), [&](FieldValues const& group) { text += text_of(group) + "|"; });
  return text;
}

TEST(StoredValues, KeepsTheValueFromTheBeginningAndTheLast) {
  StoredValues stored;
  stored.add(fields_of({Value::of_i64(1)}));
  update(stored, {Value::of_i64(2), Value::of_i64(3)});
  update(stored, {Value::of_i64(4)});
  EXPECT_EQ(groups_of(stored), "a=1|a=4 b=3|");
  EXPECT_EQ(last_of(stored), "a=4|b=3|");
  EXPECT_EQ(stored.changes(), 3u);
}

TEST(StoredValues, KeepsThePlaceOfTheFirstValue) {
  StoredValues stored;
  stored.add(fields_of({Value(), Value::of_text("at first")}));
  update(stored, {Value(), Value(), Value::of_text("one")});
  update(stored, {Value::of_i64(1)});
  update(stored, {Value(), Value(), Value::of_text("a longer text than before"), Value::of_bool(true)});
  update(stored, {Value(), Value::of_text("later")});
  EXPECT_EQ(groups_of(stored), "b=\"at first\"|c=\"a longer text than before\"|a=1|d=true|b=\"later\"|");
  EXPECT_EQ(last_of(stored), "b=\"later\"|c=\"a longer text than before\"|a=1|d=true|");
}

TEST(StoredValues, ReplacesValuesByThoseOfOtherTypes) {
  StoredValues stored;
  stored.add(fields_of({}));
  update(stored, {Value::of_text("text"), Value::of_i64(1)});
  update(stored, {Value::of_i64(2), Value::of_text("other")});
  update(stored, {Value::of_bool(true), Value::of_f64(0.5)});
  EXPECT_EQ(last_of(stored), "|a=true b=0.5|");
}

TEST(StoredValues, DoesNotGrowWithTheNumberOfUpdates) {
  StoredValues stored;
  stored.add(fields_of({Value::of_i64(-1)}));
  std::size_t after_some = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string const text = "step " + std::to_string(i);
    update(stored, {Value::of_i64(i), Value::of_text(text)});
    if (i % 3 == 0) update(stored, {Value(), Value(), Value::of_text(text)});
    if (i == 10) after_some = stored.size_bytes();
  }
  EXPECT_EQ(last_of(stored), "a=9999|b=\"step 9999\"|c=\"step 9999\"|");
  EXPECT_LE(stored.size_bytes(), after_some + 16);
  EXPECT_FALSE(stored.is_large());
}

TEST(StoredValues, KeepsAllValuesOnRequest) {
  StoredValues stored;
  stored.add(fields_of({Value::of_i64(1)}));
  for (int i = 2; i <= 4; ++i) update(stored, {Value::of_i64(i)}, true);
  EXPECT_EQ(groups_of(stored), "a=1|a=2|a=3|a=4|");
  EXPECT_EQ(last_of(stored), "a=4|");
  EXPECT_EQ(stored.group_count(), 4u);
}

}}  // namespace tracing
