#include "tracing_core/export/fd_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/approval.h"
#include "tests/support/temporary_file.h"
#include "tracing_core/export/write_all.h"

namespace tracing { namespace {

using tracing_test::TemporaryFile;

// A pipe or a pair of sockets: text written to `in` comes out of `out`.
struct Ends {
  int out = -1;
  int in = -1;
};
Ends make_pipe(int flags = 0) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, flags), 0);
  return {ends[0], ends[1]};
}
Ends make_sockets(int type) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
  return {ends[0], ends[1]};
}

std::string read_once(int descriptor) {
  static char room[1 << 16];
  ssize_t const size = read(descriptor, room, sizeof(room));
  return size > 0 ? std::string(room, static_cast<std::size_t>(size)) : std::string();
}

std::string read_all(int descriptor) {
  std::string text;
  for (std::string piece; !(piece = read_once(descriptor)).empty();) text += piece;
  return text;
}

TEST(FdSink, TakesJoinedLinesUnlessAReaderGetsEachWriteByItself) {
  TemporaryFile const file;
  for (Ends const ends : {make_pipe(), make_sockets(SOCK_STREAM), Ends{-1, open(file.path(), O_WRONLY)}}) {
    EXPECT_TRUE(FdSink(ends.in).takes_joined_lines());
    close(ends.out);
  }
  for (Ends const ends : {make_pipe(O_DIRECT), make_sockets(SOCK_SEQPACKET), make_sockets(SOCK_DGRAM), Ends{}}) {
    EXPECT_FALSE(FdSink(ends.in).takes_joined_lines());
    close(ends.out);
  }
}

TEST(FdSink, WritesEachLineByOneWrite) {
  // A read from such a pipe or socket returns the text of one write.
  for (Ends const ends : {make_pipe(O_DIRECT), make_sockets(SOCK_SEQPACKET)}) {
    {
      FdSink sink(ends.in);
      for (char const* line : {"first\n", "second\n", "several\nlines\n"}) sink.write(Level::info, line);
      EXPECT_EQ(sink.failed_writes(), 0U);
    }
    EXPECT_EQ(read_once(ends.out), "first\n");
    EXPECT_EQ(read_once(ends.out), "second\n");
    EXPECT_EQ(read_once(ends.out), "several\nlines\n");
    EXPECT_EQ(read_once(ends.out), "");
    close(ends.out);
  }
}

TEST(FdSink, KeepsLinesOfSeveralThreadsAndSinksApart) {
  TemporaryFile const file;
  constexpr int kThreads = 3;
  constexpr int kLines = 400;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&file, t] {
      std::error_code error;
      auto const sink = FdSink::append_to(file.path(), error);
      std::string const line(500, static_cast<char>('a' + t));
      for (int i = 0; i < kLines; ++i) sink->write(Level::info, line + "\n");
    });
  }
  for (auto& thread : threads) thread.join();
  std::istringstream lines(file.text());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(line.size(), 500U);
    EXPECT_EQ(line.find_first_not_of(line[0]), std::string::npos);
  }
  EXPECT_EQ(count, kThreads * kLines);
}

TEST(FdSink, AppendsToAFileAndCreatesOne) {
  TemporaryFile const file;
  std::error_code error = std::make_error_code(std::errc::io_error);
  FdSink::append_to(file.path(), error)->write(Level::info, "first\n");
  EXPECT_FALSE(error);
  std::filesystem::remove(file.path());
  FdSink::append_to(file.path(), error)->write(Level::info, "second\n");
  auto const third = FdSink::append_to(file.path(), error);
  third->write(Level::info, "third\n");
  EXPECT_EQ(file.text(), "second\nthird\n");
  EXPECT_NE(fcntl(third->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(FdSink, StartsANewLineAfterABrokenOne) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "complete\nbroken o";
  std::error_code error;
  FdSink::append_to(file.path(), error)->write(Level::info, "a line\n");
  FdSink::append_to(file.path(), error)->write(Level::info, "another\n");
  EXPECT_EQ(file.text(), "complete\nbroken o\na line\nanother\n");
}

// Writes lines to a file with a limit of its size, and more lines after the limit is lifted. Returns the content of the
// file, and the number of lines missing in it.
std::pair<std::string, std::uint64_t> after_a_limit(rlim_t bytes, std::string_view end_of_broken) {
  TemporaryFile const file;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const limit{bytes, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::error_code error;
  auto const sink = FdSink::append_to(file.path(), error, -1, end_of_broken);
  for (char const* lines : {"first\n", "second\nthird\n", "fourth\n"}) sink->write(Level::info, lines);
  setrlimit(RLIMIT_FSIZE, &before);
  sink->write(Level::info, "fifth\n");
  return {file.text(), sink->missing_lines()};
}

TEST(FdSink, SurvivesRlimitFsizeAndCountsMissingLines) {
  using Result = std::pair<std::string, std::uint64_t>;
  EXPECT_EQ(after_a_limit(15, "\n"), Result("first\nsecond\nth\nfifth\n", 2));
  EXPECT_EQ(after_a_limit(15, " (cut)\n"), Result("first\nsecond\nth (cut)\nfifth\n", 2));
  EXPECT_EQ(after_a_limit(13, "\n"), Result("first\nsecond\nfifth\n", 2)) << "no line broke off";
  EXPECT_EQ(after_a_limit(18, "\n"), Result("first\nsecond\nthird\nfifth\n", 2)) << "its line end is missing";
}

TEST(FdSink, ReportsWhyAFileCannotBeOpened) {
  std::error_code error;
  EXPECT_EQ(FdSink::append_to("/no/such/folder/file", error), nullptr);
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_EQ(FdSink::append_to("/tmp", error), nullptr);
  EXPECT_EQ(error, std::errc::is_a_directory);
}

TEST(FdSink, DuplicateIgnoresRedirectionsAndIsNotInherited) {
  Ends const ends = make_pipe();
  auto const sink = FdSink::duplicate_of(ends.in);
  ASSERT_NE(sink, nullptr);
  EXPECT_NE(fcntl(sink->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), ends.in), ends.in);
  sink->write(Level::info, "still here\n");
  EXPECT_EQ(read_once(ends.out), "still here\n");
  EXPECT_EQ(FdSink::duplicate_of(-1), nullptr);
  EXPECT_EQ(FdSink::duplicate_of(987654), nullptr);
}

std::string long_line() {
  std::string line;
  for (int i = 0; line.size() < 1'000'000; ++i) line += std::to_string(i) + ' ';
  return line + '\n';
}

TEST(FdSink, ContinuesAfterAPartialWrite) {
  std::string const line = long_line();
  for (Ends const ends :
       {make_pipe(), make_pipe(O_NONBLOCK), make_sockets(SOCK_STREAM), make_sockets(SOCK_STREAM | SOCK_NONBLOCK)}) {
    fcntl(ends.out, F_SETFL, 0);
    std::string got;
    std::thread reader([&] { got = read_all(ends.out); });
    {
      FdSink sink(ends.in);
      sink.write(Level::info, line);
      EXPECT_EQ(sink.failed_writes(), 0U);
    }
    reader.join();
    EXPECT_EQ(got, line);
    close(ends.out);
  }
}

TEST(FdSink, KeepsErrno) {
  FdSink sink(-1, "", -1);
  errno = ENOTTY;
  sink.write(Level::info, "nowhere");
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(sink.failed_writes(), 1U);
}

// ---- lines that are longer than a pipe takes in one piece ----

// The first long line is written while other threads write short lines.
TEST(FdSink, KeepsLongLinesOfSeveralThreadsApartOnAPipe) {
  for (Ends const ends : {make_pipe(), make_sockets(SOCK_STREAM)}) {
    constexpr int kThreads = 4;
    constexpr int kLines = 100;
    std::string got;
    std::thread reader([&] { got = read_all(ends.out); });
    {
      FdSink first(ends.in);
      auto const second = FdSink::duplicate_of(ends.in);
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          FdSink& sink = t % 2 == 0 ? first : *second;
          std::string const line(t == 0 ? 30'000 : 3'000, static_cast<char>('a' + t));
          for (int i = 0; i < kLines; ++i) sink.write(Level::info, line + "\n");
        });
      }
      for (auto& thread : threads) thread.join();
    }
    reader.join();
    std::istringstream lines(got);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_TRUE(line.size() == 3'000 || line.size() == 30'000) << line.size();
      EXPECT_EQ(line.find_first_not_of(line[0]), std::string::npos) << "a line within a line of " << line[0];
    }
    EXPECT_EQ(count, kThreads * kLines);
    close(ends.out);
  }
}

// Waits until another thread has written to a pipe.
void wait_for_bytes(int descriptor) {
  for (int bytes = 0; bytes == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    ASSERT_EQ(ioctl(descriptor, FIONREAD, &bytes), 0);
}

TEST(FdSink, WaitsAtMostASecondForAnotherThreadAndNotAtAllInAForkedChild) {
  Ends const stuck = make_pipe(), ends = make_pipe();
  std::string const line = std::string(5000, 'x') + "\n";
  std::thread writer([&] {
    FdSink(stuck.in).write(Level::info, std::string(1 << 20, 'x') + "\n");  // keeps its turn until the pipe is read
  });
  wait_for_bytes(stuck.out);
  std::uint32_t const waits = internal::turn_waits();
  FdSink sink(ends.in);
  pid_t const child = fork();
  if (child == 0) {
    sink.write(Level::info, line);
    _exit(internal::turn_waits() == waits ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::string_view text = line;
  EXPECT_EQ(internal::write_all(ends.in, text, /*blocks_signals=*/true, internal::Turns::skip), 0);
  EXPECT_EQ(internal::turn_waits(), waits) << "as the handler of a fatal signal writes";
  sink.write(Level::info, line);
  EXPECT_EQ(internal::turn_waits(), waits + 1);
  EXPECT_EQ(read_once(ends.out), line + line + line);
  std::thread reader([&] { read_all(stuck.out); });
  writer.join();
  reader.join();
  close(stuck.out);
  close(ends.out);
}

// ---- failed writes are counted and reported once ----

// Returns the error report of a sink that writes three lines.
std::string report_of_three_lines(int descriptor, std::string name) {
  Ends const errors = make_pipe();
  {
    FdSink sink(descriptor, std::move(name), errors.in);
    for (int i = 0; i < 3; ++i) sink.write(Level::info, "a line\n");
    EXPECT_EQ(sink.failed_writes(), 3U);
  }
  close(errors.in);
  std::string const report = read_all(errors.out);
  close(errors.out);
  return report;
}

TEST(FdSink, ReportsAFullDisk) {
  std::error_code error;
  ASSERT_NE(FdSink::append_to("/dev/full", error), nullptr) << error.message();
  tracing::testing::expect_approved("disk_full.txt", report_of_three_lines(open("/dev/full", O_WRONLY), "/dev/full"));
}

TEST(FdSink, ReportsAClosedDescriptor) {
  tracing::testing::expect_approved("closed_descriptor.txt", report_of_three_lines(-1, ""));
}

TEST(FdSink, ReportsABrokenPipe) {
  for (Ends const ends : {make_pipe(), make_sockets(SOCK_STREAM), make_sockets(SOCK_SEQPACKET)}) {
    close(ends.out);
    ASSERT_EQ(signal(SIGPIPE, SIG_DFL), SIG_DFL);
    EXPECT_EQ(report_of_three_lines(ends.in, "pipe"),
              "tracing: cannot write to pipe: Broken pipe; further failures are only counted\n");
  }
}

TEST(FdSink, GivesUpOnAStuckReaderAfterASecond) {
  Ends const ends = make_pipe(O_NONBLOCK);
  std::string const line(1 << 20, 'x');
  Ends const errors = make_pipe();
  FdSink sink(ends.in, "pipe", errors.in);
  sink.write(Level::info, line);
  EXPECT_EQ(sink.failed_writes(), 1U);
  EXPECT_EQ(read_once(errors.out),
            "tracing: cannot write to pipe: Resource temporarily unavailable; further failures are only counted\n");
  close(ends.out);
  close(errors.in);
  close(errors.out);
}

// ---- signals ----

TEST(FdSink, LeavesThePendingSignalsOfTheProgram) {
  sigset_t sigpipe, before, pending;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
  for (bool const was_pending : {false, true}) {
    if (was_pending) raise(SIGPIPE);
    Ends const ends = make_pipe();
    close(ends.out);
    FdSink(ends.in, "", -1).write(Level::info, "a line\n");
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), was_pending);
  }
  timespec const no_wait{};
  sigtimedwait(&sigpipe, nullptr, &no_wait);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// ---- descriptors whose numbers the program uses for files of its own ----

void reuse(int number, char const* path) {
  int const file = open(path, O_WRONLY | O_CLOEXEC);
  if (file == number) return;
  ASSERT_EQ(dup2(file, number), number);
  close(file);
}

TEST(FdSink, WritesNothingToAFileThatReusesItsDescriptorInAForkedChild) {
  TemporaryFile const log, other;
  std::error_code error;
  auto sink = FdSink::append_to(log.path(), error);
  sink->write(Level::info, "before\n");
  pid_t const child = fork();
  if (child == 0) {
    int const number = sink->descriptor();
    sink->write(Level::info, "in the child\n");
    reuse(number, other.path());
    for (int i = 0; i < 2; ++i) sink->write(Level::info, "not ours\n");
    bool const counts = sink->missing_lines() == 2;
    sink.reset();
    _exit(counts && fcntl(number, F_GETFD) >= 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  sink->write(Level::info, "after\n");
  EXPECT_EQ(other.text(), "");
  EXPECT_EQ(log.text(), "before\nin the child\nafter\n");
}

TEST(FdSink, WritesNothingToAFileThatReusesItsDescriptorAfterAFailedWrite) {
  TemporaryFile const log, other;
  std::error_code error;
  auto sink = FdSink::append_to(log.path(), error, -1);
  int const number = sink->descriptor();
  close(number);
  sink->write(Level::info, "nowhere\n");
  reuse(number, other.path());
  sink->write(Level::info, "not ours\n");
  EXPECT_EQ(sink->missing_lines(), 2U);
  sink.reset();
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "it was closed";
  close(number);
  EXPECT_EQ(log.text() + other.text(), "");
}

// ---- cancellation ----

// A thread that is to be cancelled writes a line, and must not end while it writes.
TEST(FdSink, LetsNoThreadBeCancelledWithinALine) {
  Ends const ends = make_pipe();
  FdSink sink(ends.in);
  pthread_t thread;
  auto const write_and_end = [](void* context) -> void* {
    pthread_cancel(pthread_self());
    static_cast<FdSink*>(context)->write(Level::info, "a line\n");
    pthread_testcancel();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, write_and_end, &sink), 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(read_once(ends.out), "a line\n");
  close(ends.out);
}

}}  // namespace tracing
