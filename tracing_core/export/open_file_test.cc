#include "tracing_core/export/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "tests/support/temporary_folder.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"

namespace tracing {
namespace {

namespace fs = std::filesystem;
using internal::open_file;
using internal::open_new_file;

class OpenFile : public ::testing::Test {
 protected:
  std::string path(char const* name = "file") const { return folder_ / name; }
  static void put(int descriptor, std::string const& text) {
    ASSERT_EQ(write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::size_t file_count() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path("")), {})); }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(OpenFile, NeverTakesTheDescriptorsOfAProgramWhoseStandardStreamsAreClosed) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    for (int const stream : {0, 1, 2}) close(stream);
    std::error_code error;
    auto const sink = FdSink::append_to(path("folded"), error);
    auto made = chrome_layer({.path = path("trace.json")});
    bool const is_free = write(1, "out", 3) < 0 && errno == EBADF && write(2, "err", 3) < 0 && fcntl(0, F_GETFD) < 0;
    made.second = {};
    _exit(!error && sink != nullptr && is_free ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(folder_.read("trace.json").starts_with("[\n{")) << folder_.read("trace.json");
}

TEST_F(OpenFile, IsNotInheritedByProgramsThatAreExecuted) {
  for (int const file : {open_file(path().c_str(), O_WRONLY | O_CREAT), open_new_file(path().c_str(), O_WRONLY)}) {
    ASSERT_GE(file, 0);
    EXPECT_EQ(fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(file);
  }
}

// What the one that was there is still written with reaches nobody.
TEST_F(OpenFile, MadeAnewTakesThePlaceOfTheOneThatWasThere) {
  int const older = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  put(older, "older ");
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  int const newer = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(newer, 0);
  put(newer, "newer");
  put(older, "and on");
  EXPECT_EQ(folder_.read("file"), "newer");
  struct stat what {};
  EXPECT_EQ(stat(path().c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 07777, 0640U);
  EXPECT_EQ(file_count(), 1U);
  close(older);
  close(newer);
}

TEST_F(OpenFile, MadeAnewIsEmptiedWhereASymbolicLinkLeadsToIt) {
  folder_.write("target", "what was there");
  fs::create_symlink("target", path());
  int const file = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(file, 0);
  put(file, "new");
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_EQ(folder_.read("target"), "new");
  close(file);
}

TEST_F(OpenFile, MadeAnewIsMadeWhereASymbolicLinkLeadsNowhere) {
  fs::create_symlink("target", path());
  int const file = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(file, 0);
  put(file, "new");
  EXPECT_EQ(folder_.read("target"), "new");
  close(file);
}

TEST_F(OpenFile, MadeAnewIsEmptiedWhereThereIsNoRoomBesideIt) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to any folder";
  folder_.write("file", "what was there");
  ASSERT_EQ(chmod(path("").c_str(), 0555), 0);
  int const file = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  EXPECT_EQ(chmod(path("").c_str(), 0755), 0);
  ASSERT_GE(file, 0);
  EXPECT_EQ(folder_.read("file"), "");
  close(file);
}

TEST_F(OpenFile, MadeAnewSaysWhyItCannotBe) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  for (auto const& [bad, error] : {std::pair{path(""), EISDIR}, {path("no/such"), ENOENT}, {path("a"), ELOOP}}) {
    EXPECT_LT(open_new_file(bad.c_str(), O_WRONLY | O_APPEND), 0) << bad;
    EXPECT_EQ(errno, error) << bad;
  }
}

TEST_F(OpenFile, MadeAnewIsTheDeviceOrPipeThatIsThere) {
  int const device = open_new_file("/dev/null", O_WRONLY | O_APPEND);
  ASSERT_GE(device, 0);
  put(device, "nothing");
  close(device);
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace tracing
