#include "tracing_core/internal/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/temporary_folder.h"

namespace tracing::internal {
namespace {

namespace fs = std::filesystem;

class OpenFile : public ::testing::Test {
 protected:
  std::string path(char const* name = "file") const { return folder_ / name; }
  static void write_to(int descriptor, std::string const& text) {
    ASSERT_EQ(write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(OpenFile, AvoidsTheDescriptorsOfClosedStandardStreams) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    for (int const stream : {0, 1, 2}) close(stream);
    int const file = open_file(path().c_str(), O_WRONLY | O_CREAT);
    bool const is_close_on_exec = (fcntl(file, F_GETFD) & FD_CLOEXEC) != 0;
    _exit(file > 2 && is_close_on_exec && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OpenFile, NewFileIsSeparateFromOneThatIsStillWrittenTo) {
  int const older = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  write_to(older, "older ");
  int const newer = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(newer, 0);
  write_to(newer, "newer");
  write_to(older, "and on");
  EXPECT_EQ(folder_.read("file"), "newer");
  close(older);
  close(newer);
}

TEST_F(OpenFile, NewFileReplacesTheContentOfASymbolicLinksTarget) {
  folder_.write("target", "the older content");
  fs::create_symlink("target", path());
  int const file = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(file, 0);
  write_to(file, "new");
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_EQ(folder_.read("target"), "new");
  close(file);
}

TEST_F(OpenFile, ReportsWhyAFileCannotBeOpened) {
  for (auto const& [bad, error] : {std::pair{path(""), EISDIR}, {path("no/such"), ENOENT}}) {
    EXPECT_LT(open_new_file(bad.c_str(), O_WRONLY | O_APPEND), 0) << bad;
    EXPECT_EQ(errno, error) << bad;
  }
}

}  // namespace
}  // namespace tracing::internal
