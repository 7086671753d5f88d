#include "tracing_core/inspect/folded.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_file.h"

namespace tracing { namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FoldedLine::Kind;

std::string dump(FoldedLine const& line) {
  if (line.kind == Kind::nothing) return "nothing";
  if (line.kind == Kind::bad) return "bad [" + std::string(line.piece) + "] " + std::string(line.problem);
  return '[' + std::string(line.stack) + "] " + std::to_string(line.count) + (line.cut ? " cut" : "");
}
std::string dump(std::string_view line) { return dump(parse_folded_line(line)); }

TEST(FoldedLine, IsAStackAndACount) {
  EXPECT_EQ(dump("main 1"), "[main] 1");
  EXPECT_EQ(dump("main;load;parse 120"), "[main;load;parse] 120");
  EXPECT_EQ(dump("main;load 0"), "[main;load] 0");
  EXPECT_EQ(dump("main 18446744073709551615"), "[main] 18446744073709551615");
  EXPECT_EQ(dump("main 007"), "[main] 7");
}

TEST(FoldedLine, KeepsBlanksOfNames) {
  EXPECT_EQ(dump("my thread;f g h 10"), "[my thread;f g h] 10");
  EXPECT_EQ(dump("my thread;x  3"), "[my thread;x] 3");
  EXPECT_EQ(dump("  main;f 3 \t\r\n"), "[main;f] 3");
  EXPECT_EQ(dump("main;f\t3"), "[main;f] 3");
  EXPECT_EQ(dump("launch 4 100"), "[launch 4] 100");
}

TEST(FoldedLine, ReadsWhatPerfsCollapsersWrite) {
  EXPECT_EQ(dump("java;[libc.so.6];std::vector<int, std::allocator<int> >::push_back(int const&)_[i] 7"),
            "[java;[libc.so.6];std::vector<int, std::allocator<int> >::push_back(int const&)_[i]] 7");
  EXPECT_EQ(dump("swapper;[unknown];do_idle_[k] 12"), "[swapper;[unknown];do_idle_[k]] 12");
}

TEST(FoldedLine, CutsFractions) {
  EXPECT_EQ(dump("a;b 12.75"), "[a;b] 12 cut");
  EXPECT_EQ(dump("a;b 12.00"), "[a;b] 12");
  EXPECT_EQ(dump("a;b 12."), "[a;b] 12");
}

TEST(FoldedLine, SkipsBlankLinesAndComments) {
  EXPECT_EQ(dump(""), "nothing");
  EXPECT_EQ(dump(" \t\r\n"), "nothing");
  EXPECT_EQ(dump("# main 12"), "nothing");
  EXPECT_EQ(dump("  #"), "nothing");
}

TEST(FoldedLine, ReportsWhatIsWrong) {
  EXPECT_EQ(dump("main"), "bad [main] missing count; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a;b"), "bad [a;b] missing count; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("12"), "bad [12] missing stack; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a b"), "bad [b] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a 1e3"), "bad [1e3] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a .5"), "bad [.5] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a 1.2.3"), "bad [1.2.3] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a +1"), "bad [+1] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a -1"), "bad [-1] the count is negative; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a -"), "bad [-] the count is not a whole number; expected a line like `outer;inner 120`");
  EXPECT_EQ(dump("a 18446744073709551616"),
            "bad [18446744073709551616] the count is too large; expected at most 18446744073709551615");
}

struct Collected {
  std::vector<std::string> stacks;
  std::vector<std::string> bad;
  std::error_code error;
};

Collected collect(std::string const& text) {
  tracing_test::TemporaryFile file;
  std::ofstream(file.path(), std::ios::binary) << text;
  Collected out;
  FoldedVisitor visitor;
  visitor.on_stack = [&](FoldedLine const& line) {
    if (line.stack == "refused") return std::string_view("it was refused");
    out.stacks.push_back(std::string(line.stack) + '=' + std::to_string(line.count));
    return std::string_view();
  };
  visitor.on_bad = [&](BadFoldedLine const& bad) { out.bad.push_back(to_string(bad)); };
  int const fd = open(file.path(), O_RDONLY | O_CLOEXEC);
  out.error = read_folded(fd, "run.folded", visitor);
  close(fd);
  return out;
}

TEST(ReadFolded, ReadsLineByLine) {
  Collected const read = collect("# made by hand\na;b 1\n\r\na 2\r\nc 3");
  EXPECT_THAT(read.stacks, ElementsAre("a;b=1", "a=2", "c=3"));
  EXPECT_THAT(read.bad, ElementsAre());
  EXPECT_FALSE(read.error);
}

TEST(ReadFolded, ReportsBadLinesAndGoesOn) {
  Collected const read = collect("a 1\nb\n\nc x\x1b[31m\nrefused 4\nd 5\n");
  EXPECT_THAT(read.stacks, ElementsAre("a=1", "d=5"));
  EXPECT_THAT(
      read.bad,
      ElementsAre("run.folded:2: 'b': missing count; expected a line like `outer;inner 120`",
                  "run.folded:4: 'x\\x1b[31m': the count is not a whole number; expected a line like `outer;inner 120`",
                  "run.folded:5: '4': it was refused"));
}

TEST(ReadFolded, ShortensTheOffendingText) {
  Collected const read = collect(std::string(1000, 'x') + '\n');
  ASSERT_EQ(read.bad.size(), 1u);
  EXPECT_THAT(read.bad[0], HasSubstr("run.folded:1: '" + std::string(60, 'x') + "...': missing count"));
}

TEST(ReadFolded, AssemblesLinesFromBlocks) {
  std::string text;
  std::vector<std::string> expected;
  for (std::size_t size = 1; text.size() < 3'000'000; size = size * 3 / 2 + 1) {
    std::string const name(size, static_cast<char>('a' + expected.size() % 26));
    text += name + ' ' + std::to_string(size) + '\n';
    expected.push_back(name + '=' + std::to_string(size));
  }
  EXPECT_EQ(collect(text).stacks, expected);
}

TEST(ReadFolded, SkipsAByteOrderMark) {
  EXPECT_THAT(collect("\xef\xbb\xbfmain 1\n\xef\xbb\xbfmain 1\n").stacks, ElementsAre("main=1", "\xef\xbb\xbfmain=1"));
}

TEST(ReadFolded, SurvivesGarbage) {
  std::string garbage;
  for (int i = 0; i < 4096; ++i) garbage += static_cast<char>(i * 31);
  Collected const read = collect(garbage + std::string(3, '\0') + "a;b 7\n");
  EXPECT_FALSE(read.error);
  EXPECT_FALSE(read.bad.empty());
}

TEST(ReadFolded, ReadsAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    for (char const* part : {"a;", "b 1", "2\n", "c 3"})
      EXPECT_GT(write(ends[1], part, std::char_traits<char>::length(part)), 0);
    close(ends[1]);
  });
  std::vector<std::string> stacks;
  FoldedVisitor visitor;
  visitor.on_stack = [&](FoldedLine const& line) {
    stacks.push_back(dump(line));
    return std::string_view();
  };
  EXPECT_FALSE(read_folded(ends[0], "-", visitor));
  writer.join();
  close(ends[0]);
  EXPECT_THAT(stacks, ElementsAre("[a;b] 12", "[c] 3"));
}

TEST(ReadFolded, ReportsWhyItStopped) {
  FoldedVisitor visitor;
  visitor.on_stack = [](FoldedLine const&) { return std::string_view(); };
  int const folder = open("/", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(read_folded(folder, "/", visitor), std::errc::is_a_directory);
  close(folder);
}

}}  // namespace tracing
