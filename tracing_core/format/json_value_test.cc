#include "tracing_core/format/json_value.h"

#include <gtest/gtest.h>

namespace tracing::formatting { namespace {

TEST(EndJsonText, ClosesAndEscapesWhatWasAppended) {
  InlineTextBuffer<64> out;
  out.append("[\"a\"b");
  end_json_text(out, 4);
  EXPECT_EQ(out.view(), "[\"a\"b\"");
  out.clear();
  out.append("\"a\"b");
  end_json_text(out, 0);
  EXPECT_EQ(out.view(), "\"a\\\"b\"");
}

TEST(EndJsonText, DoesNothingWithoutMemoryForTheFirstQuote) {
  InlineTextBuffer<4> out;
  out.append("text");
  end_json_text(out, 4);
  EXPECT_EQ(out.view(), "text");
}

}}  // namespace tracing::formatting
