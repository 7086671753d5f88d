#include "testlog/report/report_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace testlog { namespace {

using Kind = ReportLines::Kind;

Kind kind_of(char letter) {
  return letter == 'F' ? Kind::failure : letter == 'E' ? Kind::error : letter == 'W' ? Kind::warning : Kind::other;
}

// Returns the lines that are kept, with `~` for each gap.
std::string kept(std::size_t limit, std::string_view lines) {
  ReportLines report(limit);
  for (char const letter : lines) report.add(kind_of(letter));
  report.choose();
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (report.keeps(i)) {
      text += lines[i];
    } else if (!text.ends_with('~')) {
      text += '~';
    }
  }
  return text;
}

struct Case {
  std::size_t limit;
  std::string_view lines;
  std::string_view kept;
};

TEST(ReportLines, KeepsTheFirstTheLastAndTheImportantOnes) {
  for (Case const& c : {
           Case{0, "abcdefghijklmnop", "abcdefghijklmnop"},
           Case{8, "", ""},
           Case{8, "abcdefgh", "abcdefgh"},
           Case{8, "abcdefghi", "ab~fghi"},
           Case{8, "abcdefghijklmnop", "ab~mnop"},
           Case{8, "abcdefgWijklmnop", "ab~W~nop"},
           Case{12, "abcdefgEijklmnop", "abc~E~klmnop"},
           // A single line between two others takes no more room than the gap.
           Case{12, "abcdEfghijklmnop", "abcdE~klmnop"},
           // Errors leave fewer lines for the beginning and the end.
           Case{8, "aEbcEdeEfghijklmnop", "aE~E~E~p"},
           Case{10, "abcEdefEghiEjklmnop", "a~E~E~E~op"},
           // A failure keeps the lines around it.
           Case{16, "abcdefghijklmnopqrstFuvwxyzabcdefghij", "a~pqrstFuvwxy~ij"},
           Case{16, "abcdefghijklmnopqrstuvwxyzF", "abcd~tuvwxyzF"},
           Case{4, "abcdefghijkFlmnop", "~kF~"},
           // If a kind has too many lines, its first and its last lines stay.
           Case{4, "FFFFFFFFFFFF", "FFF~"},
           Case{6, "WWEWWWWWWWEWW", "WWE~E~"},
           Case{1, "abcdefgh", "~"},
           Case{2, "abcdefgh", "~h"},
           Case{3, "abcdFfgh", "~F~"},
       }) {
    EXPECT_EQ(kept(c.limit, c.lines), c.kept) << c.limit << " of " << c.lines;
  }
}

TEST(ReportLines, KeepsTheLimitWhateverTheLinesAre) {
  constexpr std::string_view kLetters = "FEWaaaaaaaaaaaaaaaaa";
  std::size_t state = 1;
  for (std::size_t limit = 1; limit < 40; ++limit) {
    for (std::size_t count = 0; count < 400; count += 7) {
      std::string lines;
      for (std::size_t i = 0; i < count; ++i)
        lines += kLetters[(state = state * 1103515245 + 12345) / 65536 % kLetters.size()];
      std::string const text = kept(limit, lines);
      EXPECT_LE(text.size(), limit) << lines;
      if (count <= limit) {
        EXPECT_EQ(text, lines);
      }
    }
  }
}

TEST(ReportLines, KeepsAllImportantOnesOfManyLinesWithinTheLimit) {
  std::string lines(100'000, '.');
  for (std::size_t i = 500; i < 99'000; i += 1'500) lines[i] = i % 1'000 == 0 ? 'E' : 'W';
  std::string const text = kept(200, lines);
  EXPECT_EQ(std::count(text.begin(), text.end(), 'E') + std::count(text.begin(), text.end(), 'W'), 66);
  EXPECT_EQ(text.size(), 200u);
  EXPECT_TRUE(text.starts_with("....."));
  EXPECT_TRUE(text.ends_with("....."));
}

}}  // namespace testlog
