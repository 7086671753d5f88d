// What a command leaves of the file that was there before, where all goes well, where it does not, and where it is killed.
#include "testlog/cli/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testlog::cli::OutputFile;
using testlog::testdata::Outcome;
using testlog::testdata::run;
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

mode_t mode_of(std::string const& path) {
  struct stat what {};
  return stat(path.c_str(), &what) == 0 ? what.st_mode & 07777 : 0;
}

// How a process of its own ends that does this; one that returns ends with 0.
template <class F>
int status_of(F f) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Root may write everything: a child ends with kNoOtherUser where it cannot be another user.
constexpr int kNoOtherUser = 2;
void become_another_user() {
  if (getuid() == 0 && setuid(65534) != 0) _exit(kNoOtherUser);
}

// ---- what it makes ----

TEST(OutputFile, MakesAFileAndReplacesOne) {
  TemporaryFolder const folder;
  EXPECT_FALSE(write_to(folder / "run.svg", "a long first picture"));
  EXPECT_EQ(folder.read("run.svg"), "a long first picture");
  EXPECT_FALSE(write_to(folder / "run.svg", "second"));
  EXPECT_EQ(folder.read("run.svg"), "second");
  EXPECT_THAT(names_in(folder / ""), testing::ElementsAre("run.svg"));
}

TEST(OutputFile, KeepsTheOldOneUntilItIsFinished) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  EXPECT_TRUE(OutputFile::replaces(path));
  OutputFile file(path);
  file.write("new");
  EXPECT_EQ(folder.read("run.svg"), "old");
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(folder.read("run.svg"), "new");
}

TEST(OutputFile, LeavesNothingOfWhatIsNotFinished) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  for (std::string const& name : {path, folder / "another.svg"}) OutputFile(name).write("half of a pict");
  EXPECT_EQ(folder.read("run.svg"), "old");
  EXPECT_THAT(names_in(folder / ""), testing::ElementsAre("run.svg"));
}

TEST(OutputFile, HasTheModeOfTheOldOneOrThatOfTheUmask) {
  TemporaryFolder const folder;
  mode_t const before = umask(0027);
  EXPECT_FALSE(write_to(folder / "new.svg", "new"));
  std::string const old = folder.write("old.svg", "old");
  chmod(old.c_str(), 0604);
  EXPECT_FALSE(write_to(old, "new"));
  umask(before);
  EXPECT_EQ(mode_of(folder / "new.svg"), 0640U);
  EXPECT_EQ(mode_of(old), 0604U);
}

TEST(OutputFile, LeavesAFileThatMayNotBeWrittenTo) {
  TemporaryFolder const folder;
  std::string const old = folder.write("run.svg", "old");
  chmod(old.c_str(), 0444);
  int const status = status_of([&] {
    chmod((folder / "").c_str(), 0777);
    become_another_user();
    _exit(write_to(old, "new").value() == EACCES ? 0 : 1);
  });
  if (WEXITSTATUS(status) == kNoOtherUser) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("run.svg"), "old");
}

TEST(OutputFile, WritesAFileAsItIsWhereItCanMakeNoneBeside) {
  TemporaryFolder const folder;
  std::string const old = folder.write("run.svg", "old");
  int const status = status_of([&] {
    chmod(old.c_str(), 0666);
    chmod((folder / "").c_str(), 0555);
    become_another_user();
    _exit(!OutputFile::replaces(old) && !write_to(old, "new") ? 0 : 1);
  });
  chmod((folder / "").c_str(), 0700);
  if (WEXITSTATUS(status) == kNoOtherUser) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("run.svg"), "new");
}

TEST(OutputFile, TakesALongNameAndPassesOverWhatAKilledOneLeft) {
  TemporaryFolder const folder;
  std::string const name(255, 'x');
  folder.write(name.substr(0, 215) + "." + std::to_string(getpid()) + ".part", "left");
  EXPECT_FALSE(write_to(folder / name, "new"));
  EXPECT_EQ(folder.read(name), "new");
  EXPECT_EQ(names_in(folder / "").size(), 2U);
}

// ---- links, and what is no file ----

TEST(OutputFile, ReplacesWhatALinkNames) {
  TemporaryFolder const folder;
  fs::create_directory(folder / "pictures");
  std::string const there = folder.write("pictures/run.svg", "old");
  fs::create_symlink("pictures/latest", folder / "link");
  fs::create_symlink(there, folder / "pictures/latest");
  fs::create_symlink("pictures/not_yet", folder / "dangling");
  EXPECT_FALSE(write_to(folder / "link", "new"));
  EXPECT_FALSE(write_to(folder / "dangling", "first"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "pictures/latest"));
  EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(folder.read("pictures/run.svg"), "new");
  EXPECT_EQ(folder.read("pictures/not_yet"), "first");
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(write_to(folder / "loop", "new").value(), ELOOP);
}

TEST(OutputFile, WritesToADeviceAndAPipeAsTheyAre) {
  TemporaryFolder const folder;
  EXPECT_FALSE(OutputFile::replaces("/dev/null"));
  EXPECT_FALSE(write_to("/dev/null", "new"));
  EXPECT_EQ(write_to("/dev/full", "new").value(), ENOSPC);
  std::string const pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int const reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_FALSE(write_to(pipe, "new"));
  char room[8];
  EXPECT_EQ(read(reader, room, sizeof(room)), 3);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

// What a shell opened has other users: `{ testlog ... -o /dev/stdout; echo more; } > file`. The link is one of our own, so that
// nothing happens to that of the system.
TEST(OutputFile, WritesIntoTheFileThatIsStandardOutput) {
  TemporaryFolder const folder;
  std::string const link = folder / "stdout";
  fs::create_symlink("/proc/self/fd/1", link);
  std::string const path = folder.write("run.svg", "an older and longer one");
  int const status = status_of([&] {
    int const file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    dup2(file, STDOUT_FILENO);
    if (OutputFile::replaces(link) || write_to(link, "new, ")) _exit(1);
    (void)!write(file, "more", 4);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("run.svg"), "new, more");
}

TEST(OutputFile, WritesIntoAFileThatIsMountedByItself) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", "[{\"a\":1}");
  std::string const mounted = folder.write("mounted.json", "[{\"a\":1}");
  std::string const mount = "mount --bind " + trace + " " + mounted;
  Outcome const probe = run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c", mount});
  if (probe.exit_code != 0) GTEST_SKIP() << "nothing can be mounted here: " << probe.err;
  Outcome const outcome = run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c",
                               mount + " && { echo '[{\"b\":2}' | " TESTLOG_COMMAND " repair - -o " + mounted + "; " +
                                   TESTLOG_COMMAND " repair " + mounted + " -o " + mounted + "; }"});
  EXPECT_EQ(outcome.exit_code, 2) << "it cannot be read meanwhile\n" << outcome.err;
  EXPECT_EQ(folder.read("trace.json"), "[\n{\"b\":2}\n]\n") << outcome.err;
}

// ---- where it goes wrong ----

TEST(OutputFile, KeepsTheOldOneWhereAFileMayNotGrow) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  int const status = status_of([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit const limit{10'000, 10'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(write_to(path, std::string(100'000, 'x')).value() == EFBIG ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("run.svg"), "old");
  EXPECT_THAT(names_in(folder / ""), testing::ElementsAre("run.svg"));
}

TEST(OutputFile, KeepsTheOldOneWhereTheDiskIsFull) {
  TemporaryFolder const folder;
  std::string const disk = folder / "disk";
  fs::create_directory(disk);
  std::string const trace = folder.write("trace.json", "[\n{\"long\":\"" + std::string(100'000, 'x') + "\"}");
  std::string const mount = "mount -t tmpfs -o size=64k none " + disk;
  Outcome const probe = run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c", mount});
  if (probe.exit_code != 0) GTEST_SKIP() << "nothing can be mounted here: " << probe.err;
  // The disk is gone with the shell, so that shows what is on it.
  Outcome const outcome = run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c",
                               mount + " && cd " + disk + " && echo old > whole.json; " TESTLOG_COMMAND " repair " + trace +
                                   " -o whole.json; echo ended with $?; ls; cat whole.json"});
  EXPECT_EQ(outcome.out, "ended with 1\nwhole.json\nold\n");
  EXPECT_EQ(outcome.err, "testlog repair: cannot write whole.json: No space left on device\n");
}

TEST(OutputFile, KeepsTheOldOneWhereItIsKilledInTheMiddle) {
  TemporaryFolder const folder;
  std::string const path = folder.write("run.svg", "old");
  for (int const signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    int const status = status_of([&] {
      OutputFile file(path);
      file.write(std::string(100'000, 'x'));
      raise(signal);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(folder.read("run.svg"), "old");
    // Nobody hears of SIGKILL; the others leave nothing.
    EXPECT_EQ(names_in(folder / "").size(), signal == SIGKILL ? 2U : 1U) << signal;
    for (std::string const& name : names_in(folder / "")) {
      if (name.ends_with(".part")) fs::remove(folder / name);
    }
  }
}

TEST(OutputFile, LeavesIgnoredSignalsIgnored) {
  TemporaryFolder const folder;
  int const status = status_of([&] {
    signal(SIGHUP, SIG_IGN);
    OutputFile file(folder / "run.svg");
    file.write("new");
    raise(SIGHUP);
    _exit(file.finish() ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.read("run.svg"), "new");
}

TEST(OutputFile, IsOldOrNewAtWhateverInstantItIsKilled) {
  TemporaryFolder const folder;
  std::string const texts[] = {std::string(50'000, 'a'), std::string(70'000, 'b')};
  std::string const path = folder.write("run.svg", texts[0]);
  std::mt19937 random(20261122);
  for (int turn = 0; turn < 100; ++turn) {
    pid_t const child = fork();
    if (child == 0) {
      for (int i = 0;; ++i) write_to(path, texts[i % 2]);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string const left = folder.read("run.svg");
    ASSERT_TRUE(left == texts[0] || left == texts[1]) << "in turn " << turn << ", " << left.size() << " bytes";
  }
}

}  // namespace
