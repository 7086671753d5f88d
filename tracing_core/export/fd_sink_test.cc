#include "tracing_core/export/fd_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/approval.h"
#include "tests/support/temporary_file.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing {
namespace {

using tracing_test::TemporaryFile;

// A pipe or a pair of sockets: what is written to `in` comes out of `out`.
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

// Where a read gives one write each.
std::vector<Ends> packet_ends() { return {make_pipe(O_DIRECT), make_sockets(SOCK_SEQPACKET)}; }

TEST(FdSink, WritesEachLineAtOnce) {
  for (Ends const ends : packet_ends()) {
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

TEST(FdSink, WritesEachPrintedEventAtOnce) {
  for (FormatKind const kind : {FormatKind::full, FormatKind::compact, FormatKind::pretty, FormatKind::json}) {
    for (bool const ansi : {false, true}) {
      Ends const ends = make_pipe(O_DIRECT);
      PrintOptions options;
      options.format.kind = kind;
      options.format.ansi = ansi;
      options.writer = to_sink(std::make_shared<FdSink>(ends.in));
      with_default(RegistryBuilder().with(print_layer(std::move(options))).build(), [] {
        TRACE_SPAN(info, "outer", tracing::kv("n", 1));
        TRACE_SPAN(info, "inner", tracing::kv("text", "a"));
        TRACE_INFO("the first", tracing::kv("x", 2));
        TRACE_WARN("the second");
      });
      fcntl(ends.out, F_SETFL, O_DIRECT | O_NONBLOCK);
      EXPECT_NE(read_once(ends.out).find("the first"), std::string::npos);
      EXPECT_NE(read_once(ends.out).find("the second"), std::string::npos);
      EXPECT_EQ(read_once(ends.out), "");
      close(ends.out);
    }
  }
}

TEST(FdSink, TearsNoLinesOfSeveralThreadsAndSinks) {
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

TEST(FdSink, AppendsToAFileAndMakesOne) {
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

TEST(FdSink, BeginsALineBehindOneThatBrokeOff) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "whole\nbroken o";
  std::error_code error;
  FdSink::append_to(file.path(), error)->write(Level::info, "a line\n");
  FdSink::append_to(file.path(), error)->write(Level::info, "another\n");
  EXPECT_EQ(file.text(), "whole\nbroken o\na line\nanother\n");
}

// What stands in the file, and what is missing there, where a limit cut it and went away again.
std::pair<std::string, std::uint64_t> behind_a_limit(rlim_t bytes, std::string_view end_of_broken) {
  TemporaryFile const file;
  std::error_code error;
  auto const sink = FdSink::append_to(file.path(), error, -1, end_of_broken);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const limit{bytes, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  for (char const* lines : {"first\n", "second\nthird\n", "fourth\n"}) sink->write(Level::info, lines);
  setrlimit(RLIMIT_FSIZE, &before);
  sink->write(Level::info, "fifth\n");
  return {file.text(), sink->missing_lines()};
}

TEST(FdSink, LosesNoLineToTheOneThatBrokeOffBeforeIt) {
  using Got = std::pair<std::string, std::uint64_t>;
  EXPECT_EQ(behind_a_limit(15, "\n"), Got("first\nsecond\nth\nfifth\n", 2));
  EXPECT_EQ(behind_a_limit(15, " (cut)\n"), Got("first\nsecond\nth (cut)\nfifth\n", 2));
  EXPECT_EQ(behind_a_limit(13, "\n"), Got("first\nsecond\nfifth\n", 2)) << "nothing broke off";
  EXPECT_EQ(behind_a_limit(18, "\n"), Got("first\nsecond\nthird\nfifth\n", 1)) << "only the end of a line is missing";
}

TEST(FdSink, SaysWhyAFileCannotBeOpened) {
  std::error_code error;
  EXPECT_EQ(FdSink::append_to("/no/such/folder/file", error), nullptr);
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_EQ(FdSink::append_to("/tmp", error), nullptr);
  EXPECT_EQ(error, std::errc::is_a_directory);
}

TEST(FdSink, ADuplicateStaysWhatItWasAndIsNotInherited) {
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

TEST(FdSink, ClosesItsDescriptor) {
  Ends const ends = make_pipe();
  { FdSink const sink(ends.in); }
  EXPECT_EQ(fcntl(ends.in, F_GETFD), -1);
  close(ends.out);
}

// ---- what the system takes in part, or not at once ----

std::string long_line() {
  std::string line;
  for (int i = 0; line.size() < 1'000'000; ++i) line += std::to_string(i) + ' ';
  return line + '\n';
}

TEST(FdSink, GoesOnWhereOnlyAPartWasTaken) {
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

std::atomic<int> interruptions{0};

TEST(FdSink, GoesOnWhereASignalInterrupted) {
  struct sigaction action {};
  action.sa_handler = [](int) { interruptions.fetch_add(1); };  // without SA_RESTART
  struct sigaction before {};
  sigaction(SIGALRM, &action, &before);
  std::string const line = long_line();
  for (Ends const ends : {make_pipe(), make_pipe(O_NONBLOCK), make_sockets(SOCK_STREAM)}) {
    fcntl(ends.out, F_SETFL, 0);
    interruptions = 0;
    std::string got;
    std::thread reader([&] {
      sigset_t alarms;
      sigemptyset(&alarms);
      sigaddset(&alarms, SIGALRM);
      pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
      while (interruptions < 3) std::this_thread::yield();  // until then the writer is stuck
      got = read_all(ends.out);
    });
    itimerval const often{{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    {
      FdSink sink(ends.in);
      sink.write(Level::info, line);
      EXPECT_EQ(sink.failed_writes(), 0U);
    }
    itimerval const never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    reader.join();
    EXPECT_EQ(got, line);
    close(ends.out);
  }
  sigaction(SIGALRM, &before, nullptr);
}

TEST(FdSink, LeavesErrnoAlone) {
  FdSink sink(-1, "", -1);
  errno = ENOTTY;
  sink.write(Level::info, "nowhere");
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(sink.failed_writes(), 1U);
}

// ---- what cannot be written: counted, said once, and the program goes on ----

// What a sink that says its failures to a pipe says after three lines.
std::string said_after_three_lines(int descriptor, std::string name) {
  Ends const complaints = make_pipe();
  {
    FdSink sink(descriptor, std::move(name), complaints.in);
    for (int i = 0; i < 3; ++i) sink.write(Level::info, "a line\n");
    EXPECT_EQ(sink.failed_writes(), 3U);
  }
  close(complaints.in);
  std::string const said = read_all(complaints.out);
  close(complaints.out);
  return said;
}

TEST(FdSink, CountsAndSaysThatTheDiskIsFull) {
  std::error_code error;
  ASSERT_NE(FdSink::append_to("/dev/full", error), nullptr) << error.message();
  tracing::testing::expect_approved("disk_full.txt", said_after_three_lines(open("/dev/full", O_WRONLY), "/dev/full"));
}

TEST(FdSink, CountsAndSaysThatADescriptorIsClosed) {
  tracing::testing::expect_approved("closed_descriptor.txt", said_after_three_lines(-1, ""));
}

TEST(FdSink, CountsAndSaysThatNobodyReads) {
  for (Ends const ends : {make_pipe(), make_sockets(SOCK_STREAM), make_sockets(SOCK_SEQPACKET)}) {
    close(ends.out);  // with SIGPIPE as it is at first, a write would end this program
    EXPECT_EQ(said_after_three_lines(ends.in, "pipe"),
              "tracing: cannot write to pipe: Broken pipe; further failures are only counted\n");
  }
}

TEST(FdSink, CountsAndSaysThatAReaderIsStuck) {
  Ends const ends = make_pipe(O_NONBLOCK);
  std::string const line(1 << 20, 'x');
  Ends const complaints = make_pipe();
  FdSink sink(ends.in, "pipe", complaints.in);
  sink.write(Level::info, line);
  EXPECT_EQ(sink.failed_writes(), 1U);
  EXPECT_EQ(read_once(complaints.out),
            "tracing: cannot write to pipe: Resource temporarily unavailable; further failures are only counted\n");
  close(ends.out);
  close(complaints.in);
  close(complaints.out);
}

TEST(FdSink, MayHaveNowhereToComplain) {
  Ends const complaints = make_pipe();
  close(complaints.out);
  FdSink unheard(-1, "", complaints.in);
  unheard.write(Level::info, "a line\n");
  EXPECT_EQ(unheard.failed_writes(), 1U);
  close(complaints.in);
}

// ---- SIGPIPE belongs to the program ----

bool is_pending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

int write_to_nobody() {
  Ends const ends = make_pipe();
  close(ends.out);
  FdSink sink(ends.in, "", -1);
  sink.write(Level::info, "a line\n");
  return static_cast<int>(sink.failed_writes());
}

class BlockedSigpipe {
 public:
  BlockedSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~BlockedSigpipe() {
    timespec const no_wait{};
    while (sigtimedwait(&sigpipe_, nullptr, &no_wait) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

TEST(FdSink, CallsNoHandlerOfSigpipe) {
  static std::atomic<int> calls;
  calls = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { ++calls; };
  struct sigaction before {};
  sigaction(SIGPIPE, &action, &before);
  EXPECT_EQ(write_to_nobody(), 1);
  EXPECT_EQ(calls, 0);
  raise(SIGPIPE);
  EXPECT_EQ(calls, 1) << "the signal is not blocked afterwards";
  sigaction(SIGPIPE, &before, nullptr);
}

TEST(FdSink, LeavesNoSigpipeWhereTheProgramBlocksIt) {
  BlockedSigpipe const blocked;
  EXPECT_EQ(write_to_nobody(), 1);
  EXPECT_FALSE(is_pending(SIGPIPE));
}

TEST(FdSink, LeavesASigpipeThatWaitsForTheProgram) {
  BlockedSigpipe const blocked;
  raise(SIGPIPE);
  EXPECT_EQ(write_to_nobody(), 1);
  EXPECT_TRUE(is_pending(SIGPIPE));
}

}  // namespace
}  // namespace tracing
