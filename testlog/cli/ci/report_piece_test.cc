#include "testlog/cli/ci/report_piece.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace testlog::cli { namespace {

// Returns what is kept of a report of `count` lines: `line 0`, `line 1`, ...
std::string piece_of(int count, std::size_t max_bytes) {
  ReportPiece piece(max_bytes);
  for (int i = 0; i < count; ++i) piece.add("line " + std::to_string(i));
  return piece.text();
}

TEST(ReportPiece, KeepsWhatFitsToTheByte) {
  std::string const whole = piece_of(100, 100'000);
  EXPECT_EQ(whole.substr(0, 14), "line 0\nline 1\n");
  EXPECT_EQ(piece_of(100, whole.size() + 1), whole);
  EXPECT_EQ(piece_of(100, whole.size()), whole);
  std::string const cut = piece_of(100, whole.size() - 1);
  EXPECT_LT(cut.size(), whole.size());
  EXPECT_NE(cut.find(" lines left out here ...\n"), cut.npos) << cut;
}

TEST(ReportPiece, LosesItsMiddle) {
  std::string const text = piece_of(1000, 300);
  EXPECT_EQ(text,
            "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n"
            "... 972 lines left out here ...\n"
            "line 982\nline 983\nline 984\nline 985\nline 986\nline 987\nline 988\nline 989\nline 990\nline 991\n"
            "line 992\nline 993\nline 994\nline 995\nline 996\nline 997\nline 998\nline 999\n");
}

TEST(ReportPiece, NeverTakesMoreThanItsRoom) {
  for (std::size_t room = ReportPiece::kMinBytes; room < 2000; room += 7) {
    for (int const lines : {1, 2, 20, 200}) {
      ReportPiece piece(room);
      for (int i = 0; i < lines; ++i) piece.add(std::string(static_cast<std::size_t>(i * 37 % 500), '"'));
      EXPECT_LE(piece.text().size(), room) << lines;
    }
  }
}

TEST(ReportPiece, CutsLongLinesBetweenCharacters) {
  ReportPiece piece(ReportPiece::kMinBytes);
  piece.add(std::string(1000, '<'));
  EXPECT_EQ(piece.text(), "&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;...\n");
}

}}  // namespace testlog::cli
