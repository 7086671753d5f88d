#include "tracing_core/support/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/temporary_folder.h"

namespace tracing::support { namespace {

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
    int const file = create_file(path().c_str(), O_WRONLY);
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

TEST_F(OpenFile, NewFileTakesThePlaceOfALink) {
  for (std::string const& target : {folder_.write("victim", "precious"), folder_ / "missing"}) {
    fs::remove(path());
    fs::create_symlink(target, path());
    int const file = open_new_file(path().c_str(), O_WRONLY | O_APPEND);
    ASSERT_GE(file, 0);
    write_to(file, "new");
    close(file);
    EXPECT_FALSE(fs::is_symlink(path()));
    EXPECT_EQ(folder_.read("file"), "new");
  }
  EXPECT_EQ(folder_.read("victim"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "missing"));
}

TEST_F(OpenFile, FilesThatAreMadeAreForTheirUserAlone) {
  mode_t const before = umask(0);
  std::string part;
  int const files[] = {create_file(path("a").c_str(), O_RDWR), open_new_file(path("b").c_str(), O_WRONLY),
                       open_to_append(path("c").c_str(), FileName::given),
                       open_to_append(path("d").c_str(), FileName::formed), create_part(path("e"), part)};
  umask(before);
  for (int const file : files) {
    struct stat status {};
    EXPECT_EQ(fstat(file, &status), 0);
    EXPECT_EQ(status.st_mode, S_IFREG | S_IRUSR | S_IWUSR);
    close(file);
  }
}

// Files that another user may have put where our file will be.
TEST_F(OpenFile, AppendsToNoneButARegularFileUnderANameThatWeFormed) {
  std::string const victim = folder_.write("victim", "precious");
  fs::create_symlink(victim, path("link"));
  fs::create_symlink(folder_ / "missing", path("dangling"));
  fs::create_hard_link(victim, path("second name"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(path("read pipe").c_str(), 0600), 0);
  int const reader = open(path("read pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  fs::create_directory(path("folder"));
  for (char const* const name : {"link", "dangling", "second name", "pipe", "read pipe"}) {
    EXPECT_LT(open_to_append(path(name).c_str(), FileName::formed), 0) << name;
    EXPECT_EQ(errno, EEXIST) << name;
  }
  EXPECT_LT(open_to_append(path("folder").c_str(), FileName::formed), 0);
  close(reader);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.write("foreign", "").c_str(), 65534, 65534), 0);
    EXPECT_LT(open_to_append(path("foreign").c_str(), FileName::formed), 0);
  }
  EXPECT_EQ(folder_.read("victim"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "missing"));
  int const own = open_to_append(folder_.write("own", "first ").c_str(), FileName::formed);
  write_to(own, "second");
  close(own);
  EXPECT_EQ(folder_.read("own"), "first second");
}

TEST_F(OpenFile, AppendsToWhatTheUserNamedButFollowsNoLink) {
  std::string const victim = folder_.write("victim", "precious");
  fs::create_symlink(victim, path("link"));
  EXPECT_LT(open_to_append(path("link").c_str(), FileName::given), 0);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(folder_.read("victim"), "precious");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  int const reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int const target = open(victim.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::string const of_system = "/proc/self/fd/" + std::to_string(target);
  std::string const of_devices = "/dev/fd/" + std::to_string(target);
  for (std::string const& name : {path("pipe"), std::string("/dev/null"), of_system, of_devices}) {
    EXPECT_TRUE(is_special_file(name.c_str())) << name;
    int const file = open_to_append(name.c_str(), FileName::given);
    EXPECT_GE(file, 0) << name;
    write_to(file, ", still");
    close(file);
  }
  close(reader);
  close(target);
  EXPECT_EQ(folder_.read("victim"), "precious, still, still");
  EXPECT_FALSE(is_special_file(path("link").c_str()));
}

// Everybody may make a link in /dev/shm.
TEST_F(OpenFile, LinksBelowDevicesAreNoneOfTheSystem) {
  std::string const link = "/dev/shm/testlog_test_link_" + std::to_string(getpid());
  std::error_code error;
  fs::create_symlink(folder_.write("victim", "precious"), link, error);
  if (error) GTEST_SKIP() << "no /dev/shm: " << error.message();
  EXPECT_LT(open_to_append(link.c_str(), FileName::given), 0);
  fs::remove(link);
  EXPECT_EQ(folder_.read("victim"), "precious");
}

TEST_F(OpenFile, PartsOfTheLongestNamesHaveShorterOnes) {
  std::string const name(255, 'n');
  std::string part;
  int const file = create_part(path(name.c_str()), part);
  EXPECT_GE(file, 0);
  close(file);
  EXPECT_TRUE(part.ends_with("." + std::to_string(getpid()) + ".part"));
}

TEST_F(OpenFile, ReportsWhyAFileCannotBeOpened) {
  for (auto const& [bad, error] : {std::pair{path(""), EISDIR}, {path("no/such"), ENOENT}}) {
    EXPECT_LT(open_new_file(bad.c_str(), O_WRONLY | O_APPEND), 0) << bad;
    EXPECT_EQ(errno, error) << bad;
  }
}

}}  // namespace tracing::support
