// serve_perfetto_link(), asked as ui.perfetto.dev asks.
#include "tracing_core/profile/link.h"

#include <gmock/gmock.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/link_client.h"
#include "tests/support/temporary_folder.h"

namespace tracing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tracing_test::ask_link;
using tracing_test::body_of;
using tracing_test::LinkPort;

constexpr std::chrono::seconds kLong{60};

// A variable of the environment, set or unset for a scope.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    if (char const* const before = getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  char const* name_;
  std::optional<std::string> before_;
};

class LinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string const why = LinkPort::why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  // Serves a file with this content on a thread.
  void serve(std::string const& content, std::string const& name = "run.pftrace") {
    path_ = folder_.write(name, content);
    result_ = std::async(std::launch::async, [this] { return serve_here(kLong); });
  }
  LinkResult serve_here(std::chrono::milliseconds limit, bool opens_browser = false) {
    return serve_perfetto_link(path_, {.time_limit = limit, .opens_browser = opens_browser, .print = [this](std::string_view line) {
                                         lines_.emplace_back(line);
                                       }});
  }

  LinkPort const port_;
  Variable const ci_{"CI", nullptr}, ssh_{"SSH_CONNECTION", nullptr}, tty_{"SSH_TTY", nullptr};
  tracing_test::TemporaryFolder const folder_;
  std::string path_;
  std::vector<std::string> lines_;  // read them when the result is there
  std::future<LinkResult> result_;
};

TEST_F(LinkTest, ServesTheFileOnceAndGoesOn) {
  serve("the trace");
  std::string const answer = ask_link("GET /run.pftrace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, AllOf(HasSubstr("\r\nAccess-Control-Allow-Origin: *\r\n"), HasSubstr("\r\nContent-Length: 9\r\n"),
                            HasSubstr("\r\nCache-Control: no-store\r\n")));
  EXPECT_EQ(body_of(answer), "the trace");
  EXPECT_TRUE(LinkPort::is_free());
  EXPECT_THAT(lines_, ElementsAre("Open in a browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/run.pftrace",
                                  "The link works once, within 60 s. Ctrl-C ends it.", "The browser has fetched " + path_));
}

TEST_F(LinkTest, AnswersWhatThePageAsksBefore) {
  serve("the trace");
  std::string const all = "\r\nAccess-Control-Allow-Origin: *\r\n";
  EXPECT_THAT(ask_link("POST /status", "Content-Length: 0\r\n"), AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(all)));
  EXPECT_THAT(ask_link("GET /status"), AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(all)));
  EXPECT_THAT(ask_link("GET /runxpftrace"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("GET /../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("OPTIONS /run.pftrace", "Access-Control-Request-Private-Network: true\r\n"),
              AllOf(StartsWith("HTTP/1.1 204 "), HasSubstr(all), HasSubstr("\r\nAccess-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"),
                    HasSubstr("\r\nAccess-Control-Allow-Private-Network: true\r\n")));
  std::string const head = ask_link("HEAD /run.pftrace");
  EXPECT_THAT(head, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nContent-Length: 9\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_EQ(body_of(ask_link("GET /run.pftrace", "Range: bytes=4-6\r\n")), "tra") << "a part";
  EXPECT_EQ(result_.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout) << "nobody has the file yet";
  EXPECT_EQ(body_of(ask_link("GET /run.pftrace")), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, ServesAgainWhatWasNotFetchedWhole) {
  std::string content(16 << 20, '.');
  for (std::size_t i = 0; i < content.size(); i += 100) content[i] = static_cast<char>(i);
  serve(content);
  int const socket = tracing_test::connect_to_link();
  std::string const request = "GET /run.pftrace HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n\r\n";
  ASSERT_EQ(send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char bytes[1000];
  EXPECT_GT(recv(socket, bytes, sizeof(bytes), 0), 0);
  close(socket);  // as a reload of the page does
  EXPECT_TRUE(body_of(ask_link("GET /run.pftrace")) == content);
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, IsNotHeldUpByConnectionsThatSayNothing) {
  serve("the trace");
  int const first = tracing_test::connect_to_link(), second = tracing_test::connect_to_link();
  EXPECT_EQ(body_of(ask_link("GET /run.pftrace")), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  close(first), close(second);
}

TEST_F(LinkTest, NamesTheFileSoThatAUrlNeedsNoEscapes) {
  serve("x", "a b#c?d&e%20\x1b[31m\xc3\xa9.pftrace");
  EXPECT_EQ(body_of(ask_link("GET /a_b_c_d_e_20__31m__.pftrace")), "x");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(lines_.at(0), EndsWith("?url=http://127.0.0.1:9001/a_b_c_d_e_20__31m__.pftrace"));
  EXPECT_THAT(lines_.at(2), AllOf(HasSubstr("a b#c?d&e%20\\x1b"), Not(HasSubstr("\x1b"))));
}

TEST_F(LinkTest, SaysThatThePortIsTaken) {
  int const other = LinkPort::listen();
  ASSERT_GE(other, 0);
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(kLong), LinkResult::unavailable);
  EXPECT_THAT(lines_, ElementsAre("No link can be served: 127.0.0.1:9001, from which alone https://ui.perfetto.dev accepts a file: "
                                  "Address already in use. Open " + path_ + " on https://ui.perfetto.dev instead."));
  close(other);
}

TEST_F(LinkTest, ServesNothingInCi) {
  Variable const ci("CI", "true");
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(kLong), LinkResult::in_ci);
  EXPECT_THAT(lines_, ElementsAre("In CI no link is served. The trace is " + path_));
}

TEST_F(LinkTest, WaitsAsLongAsCanBeSaid) {
  path_ = folder_.write("run.pftrace", "x");
  result_ = std::async(std::launch::async, [this] { return serve_here(std::chrono::milliseconds::max()); });
  EXPECT_EQ(body_of(ask_link("GET /run.pftrace")), "x");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_EQ(lines_.at(1), "The link works once, within 31536000 s. Ctrl-C ends it.");
}

TEST_F(LinkTest, ServesAnEmptyFile) {
  serve("");
  EXPECT_THAT(ask_link("GET /run.pftrace"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, DoesNotWaitForTheWriterOfAPipe) {
  path_ = folder_ / "run.pftrace";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(serve_here(kLong), LinkResult::unavailable);
  EXPECT_THAT(lines_, ElementsAre("Cannot read " + path_ + ": Invalid argument"));
}

TEST_F(LinkTest, SaysThatNoDescriptorIsLeft) {
  path_ = folder_.write("run.pftrace", "x");
  int const free = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(free);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit const one_more{static_cast<rlim_t>(free) + 1, before.rlim_max};  // for the file
  setrlimit(RLIMIT_NOFILE, &one_more);
  LinkResult const result = serve_here(kLong);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(result, LinkResult::unavailable);
  EXPECT_THAT(lines_, ElementsAre("No link can be served: Too many open files. Open " + path_ + " on https://ui.perfetto.dev instead."));
}

TEST_F(LinkTest, EndsAfterATime) {
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(std::chrono::milliseconds(100)), LinkResult::timed_out);
  EXPECT_EQ(lines_.back(), "No browser fetched the trace within 0.1 s. Open " + path_ + " on https://ui.perfetto.dev instead.");
  EXPECT_TRUE(LinkPort::is_free());
}

std::atomic<int> interrupts{0};

TEST_F(LinkTest, IsEndedByAnInterruptThatTheProgramDoesNotSee) {
  struct sigaction own {}, before {};
  own.sa_handler = [](int) { ++interrupts; };
  sigaction(SIGINT, &own, &before);
  serve("x");
  EXPECT_THAT(ask_link("HEAD /run.pftrace"), StartsWith("HTTP/1.1 200 "));
  kill(getpid(), SIGINT);
  EXPECT_EQ(result_.get(), LinkResult::interrupted);
  EXPECT_EQ(lines_.back(), "Interrupted before a browser fetched the trace. Open " + path_ + " on https://ui.perfetto.dev instead.");
  EXPECT_EQ(interrupts, 0);
  raise(SIGINT);
  EXPECT_EQ(interrupts, 1) << "its handler is back";
  sigaction(SIGINT, &before, nullptr);
}

TEST_F(LinkTest, LeavesSigpipeAsItIs) {
  struct sigaction own {}, before {}, after {};
  own.sa_handler = [](int) {};
  sigaction(SIGPIPE, &own, &before);
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(std::chrono::milliseconds(1)), LinkResult::timed_out);
  sigaction(SIGPIPE, &before, &after);
  EXPECT_EQ(after.sa_handler, own.sa_handler);
}

TEST_F(LinkTest, PrintsHowToReachARemoteMachine) {
  Variable const ssh("SSH_CONNECTION", "10.0.0.1 51234 10.0.0.2 2222");
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(std::chrono::milliseconds(1), /*opens_browser=*/true), LinkResult::timed_out);
  EXPECT_THAT(lines_.at(0), AllOf(StartsWith("This machine is used by ssh. First run on yours: ssh -N -L 9001:127.0.0.1:9001 -p 2222 "),
                                  EndsWith("@10.0.0.2")));
  EXPECT_THAT(lines_, Not(testing::Contains("No browser was found here."))) << "it is not looked for";
}

TEST_F(LinkTest, OpensTheBrowserOnRequest) {
  std::string const opened = folder_ / "opened";
  std::filesystem::create_directory(folder_ / "bin");
  std::string const opener = folder_.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > " + opened + ".part && mv " + opened + ".part " + opened + "\n");
  std::filesystem::permissions(opener, std::filesystem::perms::owner_all);
  Variable const display("DISPLAY", ":0"), path("PATH", ((folder_ / "bin") + ":" + getenv("PATH")).c_str());
  path_ = folder_.write("run.pftrace", "x");
  result_ = std::async(std::launch::async, [this] { return serve_here(kLong, /*opens_browser=*/true); });
  for (int i = 0; i < 1000 && !std::filesystem::exists(opened); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(folder_.read("opened"), "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/run.pftrace\n");
  ask_link("GET /run.pftrace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(lines_, Not(testing::Contains("No browser was found here.")));
}

TEST_F(LinkTest, SaysThatThereIsNoBrowserAndWaitsForAnother) {
  Variable const display("DISPLAY", nullptr), wayland("WAYLAND_DISPLAY", nullptr), browser("BROWSER", nullptr);
  path_ = folder_.write("run.pftrace", "x");
  result_ = std::async(std::launch::async, [this] { return serve_here(kLong, /*opens_browser=*/true); });
  EXPECT_EQ(body_of(ask_link("GET /run.pftrace")), "x");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(lines_, testing::Contains("No browser was found here."));
}

TEST_F(LinkTest, SaysThatTheFileCannotBeRead) {
  path_ = folder_ / "missing";
  EXPECT_EQ(serve_here(kLong), LinkResult::unavailable);
  path_ = folder_ / "";
  EXPECT_EQ(serve_here(kLong), LinkResult::unavailable);
  EXPECT_THAT(lines_, ElementsAre("Cannot read " + (folder_ / "missing") + ": No such file or directory",
                                  "Cannot read " + (folder_ / "") + ": Is a directory"));
}

TEST(LinkWithoutHttplib, SaysThatItWasMissing) {
  if (tracing_test::kServesLinks) GTEST_SKIP() << "cpp-httplib is there";
  Variable const ci("CI", nullptr);
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder.write("run.pftrace", "x");
  std::vector<std::string> lines;
  EXPECT_EQ(serve_perfetto_link(path, {.print = [&](std::string_view line) { lines.emplace_back(line); }}), LinkResult::unavailable);
  EXPECT_THAT(lines, ElementsAre("No link can be served: this build has no cpp-httplib (Debian and Ubuntu: libcpp-httplib-dev). Open " + path +
                                 " on https://ui.perfetto.dev instead."));
}

}  // namespace
}  // namespace tracing
