#include "testlog/cli/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testlog::cli::OutputFile;
using tracing_test::TemporaryFolder;

std::vector<std::string> names_in(fs::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

std::error_code write_to(std::string const& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  return file.finish();
}

TEST(OutputFile, CreatesAndReplacesAFile) {
  TemporaryFolder const folder;
  EXPECT_FALSE(write_to(folder / "run.svg", "a long first picture"));
  EXPECT_EQ(folder.read("run.svg"), "a long first picture");
  EXPECT_FALSE(write_to(folder / "run.svg", "second"));
  EXPECT_EQ(folder.read("run.svg"), "second");
  EXPECT_THAT(names_in(folder / ""), ElementsAre("run.svg"));
}

TEST(OutputFile, KeepsTheOldFileUntilFinished) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  EXPECT_TRUE(OutputFile::replaces(path));
  OutputFile file(path);
  file.write("new");
  EXPECT_EQ(folder.read("run.svg"), "old");
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(folder.read("run.svg"), "new");
}

TEST(OutputFile, RemovesAnUnfinishedFile) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  for (std::string const& name : {path, folder / "another.svg"}) OutputFile(name).write("half of a pict");
  EXPECT_EQ(folder.read("run.svg"), "old");
  EXPECT_THAT(names_in(folder / ""), ElementsAre("run.svg"));
}

TEST(OutputFile, WritesDirectlyToDevices) {
  TemporaryFolder const folder;
  EXPECT_FALSE(OutputFile::replaces("-"));
  EXPECT_FALSE(OutputFile::replaces("/dev/null"));
  EXPECT_FALSE(write_to("/dev/null", "new"));
  EXPECT_EQ(write_to("/dev/full", "new").value(), ENOSPC);
}

TEST(OutputFile, WritesPiecesOfAllSizesInTheirOrder) {
  TemporaryFolder const folder;
  std::string expected;
  OutputFile file(folder / "long");
  for (std::size_t const size : {1, 65535, 65536, 0, 65537, 7, 200000, 65530, 6, 1}) {
    std::string const piece(size, static_cast<char>('a' + size % 26));
    file.write(piece);
    expected += piece;
  }
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(folder.read("long"), expected);
}

TEST(OutputFile, GivesADeviceAllTextEvenIfUnfinished) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OutputFile("/dev/fd/" + std::to_string(ends[1])).write("the first half");
  char found[20] = {};
  EXPECT_EQ(read(ends[0], found, sizeof(found)), 14);
  EXPECT_STREQ(found, "the first half");
  close(ends[0]);
  close(ends[1]);
}

TEST(OutputFile, TakesThePlaceOfALink) {
  TemporaryFolder const folder;
  fs::create_symlink(folder.write("victim", "precious"), folder / "link");
  EXPECT_FALSE(write_to(folder / "link", "new"));
  EXPECT_FALSE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(folder.read("link"), "new");
  EXPECT_EQ(folder.read("victim"), "precious");
}

TEST(OutputFile, IsForItsUserAloneAndFollowsNoLinkAtItsTemporaryName) {
  TemporaryFolder const folder;
  fs::create_symlink(folder.write("victim", "precious"), tracing::support::part_of(folder / "run.svg"));
  mode_t const before = umask(0);
  OutputFile file(folder / "run.svg");
  umask(before);
  EXPECT_EQ(fs::status(tracing::support::part_of(folder / "run.svg")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  file.write("new");
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(folder.read("run.svg"), "new");
  EXPECT_EQ(folder.read("victim"), "precious");
}

TEST(OutputFile, ReplacesAPipeOfANameThatWeFormed) {
  TemporaryFolder const folder;
  ASSERT_EQ(mkfifo((folder / "run").c_str(), 0600), 0);
  OutputFile file(folder / "run", tracing::support::FileName::formed);  // opening the pipe would wait for a reader
  file.write("new");
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(folder.read("run"), "new");
}

TEST(OutputFile, MayHaveTheLongestName) {
  TemporaryFolder const folder;
  std::string const name(255, 'n');
  EXPECT_FALSE(write_to(folder / name, "new"));
  EXPECT_EQ(folder.read(name), "new");
}

}  // namespace
