#include "tracing_core/model/text_escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "tracing_core/support/unicode_escapes.h"

namespace tracing { namespace {

using namespace std::string_view_literals;
using Append = void (*)(TextBuffer&, std::string_view) noexcept;

std::string escaped(Append append, std::string_view text) {
  TextBuffer buffer;
  append(buffer, text);
  return std::string(buffer.view());
}

struct Case {
  std::string_view text;
  std::string_view expected;
};

TEST(AppendQuoted, EscapesLikeRust) {
  Case const cases[] = {
      {"", R"("")"},
      {"bob", R"("bob")"},
      {"q\"uo\\te's", R"("q\"uo\\te's")"},
      {"\t\r\n\0"sv, R"("\t\r\n\0")"},
      {"\x01\x1b[31m\x7f", R"("\u{1}\u{1b}[31m\u{7f}")"},
      {"caf\u00e9 \u65e5\u672c \U0001f600", "\"caf\u00e9 \u65e5\u672c \U0001f600\""},
      {"\u00a0\u00ad\u200b\u2028\ufeff", R"("\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}")"},
      {"e\u0301", R"("e\u{301}")"},
      {"\u0301", R"("\u{301}")"},
      {"\U0001f468\u200d\U0001f469", "\"\U0001f468\\u{200d}\U0001f469\""},
      {"\ue000\U0010ffff\U000e0100", R"("\u{e000}\u{10ffff}\u{e0100}")"},
  };
  for (auto const& [text, expected] : cases) EXPECT_EQ(escaped(append_quoted, text), expected);
}

TEST(AppendQuoted, EscapesEachByteThatIsNotUtf8) {
  Case const cases[] = {
      {"\xff", R"("\xff")"},
      {"a\x80z", R"("a\x80z")"},
      {"\xc0\xaf", R"("\xc0\xaf")"},          // overlong
      {"\xed\xa0\x80", R"("\xed\xa0\x80")"},  // a surrogate
      {"\xf4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
      {"\xe6\x97", R"("\xe6\x97")"},  // cut off
      {"\xf0\x9f\x98", R"("\xf0\x9f\x98")"},
      {"\xe6\x97\"", R"("\xe6\x97\"")"},
      {"\xe6\u00e9", "\"\\xe6\u00e9\""},
  };
  for (auto const& [text, expected] : cases) EXPECT_EQ(escaped(append_quoted, text), expected);
}

TEST(AppendSanitized, EscapesTerminalControlCharacters) {
  Case const cases[] = {
      {"", ""},
      {"plain \"text\" \\ stays", "plain \"text\" \\ stays"},
      {"\x1b[31mred\x1b[0m", R"(\x1b[31mred\x1b[0m)"},
      {"\a\b\f\x7f", R"(\x07\x08\x0c\x7f)"},
      {"\0\t\r\n\v\x01"sv, "\0\t\r\n\v\x01"sv},
      {"\u0080\u009b\u009f\u00a0", "\\u{80}\\u{9b}\\u{9f}\u00a0"},
      {"\u65e5\u0301\u200b", "\u65e5\u0301\u200b"},
      {"\x9b[31m", R"(\x9b[31m)"},
  };
  for (auto const& [text, expected] : cases) EXPECT_EQ(escaped(append_sanitized, text), expected);
}

TEST(AppendJsonString, EscapesLikeSerdeJson) {
  Case const cases[] = {
      {"", R"("")"},
      {"a\"b\\c/d'e", R"("a\"b\\c/d'e")"},
      {"\b\f\n\r\t", R"("\b\f\n\r\t")"},
      {"\0\x01\x1b\x1f\x7f"sv, "\"\\u0000\\u0001\\u001b\\u001f\x7f\""},
      {"\u0080\u00e9\u2028\U0001f600\u0301", "\"\u0080\u00e9\u2028\U0001f600\u0301\""},
      {"\xff|\xe6\x97|\xed\xa0\x80|", "\"\ufffd|\ufffd|\ufffd\ufffd\ufffd|\""},
  };
  for (auto const& [text, expected] : cases) EXPECT_EQ(escaped(append_json_string, text), expected);
}

// Text is searched eight bytes at a time.
TEST(TextEscape, FindsASpecialByteAtAnyPosition) {
  for (std::size_t size = 1; size <= 20; ++size) {
    std::string const plain(size, '~');
    EXPECT_EQ(escaped(append_quoted, plain), '"' + plain + '"');
    for (std::size_t at = 0; at < size; ++at) {
      auto const with = [&](std::string_view piece) { return std::string(plain).replace(at, 1, piece); };
      EXPECT_EQ(escaped(append_quoted, with("\n")), '"' + with("\\n") + '"');
      EXPECT_EQ(escaped(append_sanitized, with("\u0085")), with("\\u{85}"));
      EXPECT_EQ(escaped(append_json_string, with("\xff")), '"' + with("\ufffd") + '"');
    }
  }
}

TEST(TextEscape, EscapesAnAsciiCharacterInTextAsAlone) {
  for (Append const append : {append_quoted, append_sanitized, append_json_string}) {
    for (int c = 0; c < 0x80; ++c) {
      std::string const one(1, static_cast<char>(c));
      std::string const alone = escaped(append, one);
      std::string const inner = append == append_sanitized ? alone : alone.substr(1, alone.size() - 2);
      std::string expected = escaped(append, "0123456789ab");
      expected.replace(expected.find('3'), 1, inner);
      EXPECT_EQ(escaped(append, "012" + one + "456789ab"), expected) << c;
    }
  }
}

TEST(AppendSanitizedInLine, EscapesLineEnds) {
  InlineTextBuffer<64> out;
  append_sanitized_in_line(out, std::string_view("a\n\r\tb\0\x0b\x1b\x7f \xc2\x85\xff\\caf\xc3\xa9", 19));
  EXPECT_EQ(out.view(), "a\\n\\r\\tb\\x00\\x0b\\x1b\\x7f \\u{85}\\xff\\caf\xc3\xa9");
}

TEST(AppendSanitizedInLine, LeavesNothingThatXmlForbids) {
  EXPECT_EQ(escaped(append_sanitized_in_line, "\uffff|\ufffe|\ufffd|\xed\xa0\x80|\x01"),
            "\\u{ffff}|\\u{fffe}|\ufffd|\\xed\\xa0\\x80|\\x01");
}

TEST(AppendSanitizedInLine, LeavesNothingThatChangesTheDirectionOfText) {
  for (std::string_view const control : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                         "\u2066", "\u2067", "\u2068", "\u2069", "\u2028", "\u2029"}) {
    EXPECT_THAT(escaped(append_sanitized_in_line, control), testing::MatchesRegex("\\\\u\\{[0-9a-f]+\\}")) << control;
    EXPECT_THAT(escaped(append_sanitized_lines, control), testing::MatchesRegex("\\\\u\\{[0-9a-f]+\\}")) << control;
    EXPECT_THAT(escaped(append_sanitized_json, control), testing::MatchesRegex("\\\\u[0-9a-f]{4}")) << control;
  }
  EXPECT_EQ(escaped(append_sanitized_in_line, "\u05d0\u200b\u200c\u200d\u2065\u206a"),
            "\u05d0\u200b\u200c\u200d\u2065\u206a");
}

TEST(AppendSanitizedJson, EscapesWhatMayStandInAString) {
  EXPECT_EQ(escaped(append_sanitized_json, "{\"a\\n\\u001b\u00e9\":\"\u009b\x7f\u202e\u0061\"}\n"),
            "{\"a\\n\\u001b\u00e9\":\"\\u009b\\u007f\\u202ea\"}\n");
}

TEST(AppendSanitizedLines, IndentsFurtherLines) {
  Case const cases[] = {
      {"", ""},
      {"one line, caf\u00e9", "one line, caf\u00e9"},
      {"first\nsecond\n\n\tthird", "first\n      second\n      \n      \tthird"},
      {"first\r\nsecond\r", "first\\r\n      second\\r"},
      {"done\n", "done\\n"},
      {"\x1b[1A\0\v\u009b\xff"sv, "\\x1b[1A\\x00\\x0b\\u{9b}\\xff"},
  };
  for (auto const& [text, expected] : cases) EXPECT_EQ(escaped(append_sanitized_lines, text), expected);
}

TEST(EscapeRuns, AgreeWithRustInEveryBlock) {
  constexpr std::uint32_t kExpected[] = {
#include "tracing_core/support/unicode_escapes_sample.inc"
  };
  constexpr std::uint32_t kBlock = 0x400;
  for (std::uint32_t block = 0; block < std::size(kExpected); ++block) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < kBlock; ++i) count += support::find_escape_run(block * kBlock + i).escaped;
    EXPECT_EQ(count, kExpected[block]) << "block at U+" << std::hex << block * kBlock;
  }
}

TEST(EscapeRuns, CoverAllCodePointsWithoutGaps) {
  support::CodePointRun run;
  bool escaped_before = false;  // U+0000 is escaped
  for (std::uint32_t at = 0; at < 0x110000; at = run.end) {
    run = support::find_escape_run(at);
    ASSERT_EQ(run.begin, at);
    ASSERT_LT(run.begin, run.end);
    ASSERT_NE(run.escaped, escaped_before);
    escaped_before = run.escaped;
  }
  EXPECT_EQ(run.end, 0x110000u);
}

}}  // namespace tracing
