// serve_perfetto_link(), asked as ui.perfetto.dev asks.
#include "tracing_core/profile/link.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/link_client.h"
#include "tests/support/temporary_folder.h"

namespace tracing { namespace {

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

// Sets or unsets a variable of the environment for a scope.
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
    return serve_perfetto_link(path_, {.time_limit = limit,
                                       .opens_browser = opens_browser,
                                       .origins = origins_,
                                       .print = [this](std::string_view line) {
                                         std::lock_guard const lock(mutex_);
                                         lines_.emplace_back(line);
                                       }});
  }
  // Waits for the link. Returns its path, from the slash on.
  std::string link() {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      std::lock_guard const lock(mutex_);
      for (std::string const& line : lines_) {
        if (std::string path = tracing_test::path_of_link(line); !path.empty()) return path;
      }
    }
    return "no link";
  }

  LinkPort const port_;
  Variable const ci_{"CI", nullptr}, ssh_{"SSH_CONNECTION", nullptr}, tty_{"SSH_TTY", nullptr};
  tracing_test::TemporaryFolder const folder_;
  std::string path_;
  std::vector<std::string> origins_;
  std::mutex mutex_;
  std::vector<std::string> lines_;  // to be read once the result is there
  std::future<LinkResult> result_;
};

constexpr char kPerfetto[] = "\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n";
constexpr char kAllow[] = "Access-Control-";

TEST_F(LinkTest, ServesTheFileOnceAndGoesOn) {
  serve("the trace");
  std::string const path = link(), answer = ask_link("GET " + path);
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(path, testing::MatchesRegex("/[0-9a-f]{32}/run.pftrace"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, AllOf(HasSubstr(kPerfetto), HasSubstr("\r\nContent-Length: 9\r\n"),
                            HasSubstr("\r\nCache-Control: no-store\r\n")));
  EXPECT_EQ(body_of(answer), "the trace");
  EXPECT_TRUE(LinkPort::is_free());
  EXPECT_THAT(lines_,
              ElementsAre("Open in a browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001" + path,
                          "The link works once, within 60 s. Ctrl-C ends it.", "The browser has fetched " + path_));
}

TEST_F(LinkTest, HasAPathThatNobodyGuesses) {
  serve("x");
  std::string const first = link();
  EXPECT_THAT(ask_link("GET /run.pftrace"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("GET /0123456789abcdef0123456789abcdef/run.pftrace"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("GET " + first + "/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("GET " + first.substr(0, first.size() - 1)), StartsWith("HTTP/1.1 404 "));
  ask_link("GET " + first);
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  lines_.clear();
  serve("x");
  EXPECT_NE(link(), first);
  ask_link("GET " + link());
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, AnswersWhatThePageAsksBefore) {
  serve("the trace");
  std::string const path = link();
  EXPECT_THAT(ask_link("POST /status", "Content-Length: 0\r\n"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr(kPerfetto)));
  EXPECT_THAT(ask_link("GET /status"), AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(kPerfetto)));
  EXPECT_THAT(ask_link("GET /../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask_link("OPTIONS " + path, "Access-Control-Request-Private-Network: true\r\n"),
              AllOf(StartsWith("HTTP/1.1 204 "), HasSubstr(kPerfetto),
                    HasSubstr("\r\nAccess-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"),
                    HasSubstr("\r\nAccess-Control-Allow-Private-Network: true\r\n")));
  std::string const head = ask_link("HEAD " + path);
  EXPECT_THAT(head, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nContent-Length: 9\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_EQ(result_.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout) << "nobody has the file yet";
  EXPECT_EQ(body_of(ask_link("GET " + path)), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, ServesNoOtherOriginOrHost) {
  serve("the trace");
  std::string const path = link();
  struct {
    std::string host, origin;
  } const cases[] = {
      {"127.0.0.1:9001", "https://evil.example"},
      {"127.0.0.1:9001", "null"},
      {"127.0.0.1:9001", "https://ui.perfetto.dev.evil.example"},
      {"127.0.0.1:9001", "http://ui.perfetto.dev"},
      {"127.0.0.1:9001", "http://localhost:10000"},
      {"127.0.0.1:9001", ""},
      {"evil.example:9001", "https://ui.perfetto.dev"},
      {"127.0.0.1", "https://ui.perfetto.dev"},
      {"127.0.0.1:9001.evil.example", "https://ui.perfetto.dev"},
  };
  for (auto const& c : cases) {
    for (std::string const method : {"GET ", "HEAD ", "OPTIONS ", "POST "}) {
      EXPECT_THAT(tracing_test::ask_link_raw(method + path + " HTTP/1.1\r\nHost: " + c.host +
                                             "\r\nOrigin: " + c.origin + "\r\n\r\n"),
                  AllOf(StartsWith("HTTP/1.1 403 "), EndsWith("\r\n\r\n"), Not(HasSubstr(kAllow))))
          << method << c.host << " " << c.origin;
    }
  }
  for (std::string const& rest :
       {"GET " + path + " HTTP/1.1\r\n\r\n", "GET " + path + "\r\n\r\n",
        "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nHost: x\r\n\r\n",
        "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nOrigin: https://ui.perfetto.dev\r\nOrigin: x\r\n\r\n",
        std::string("\r\n\r\n"), "GET " + path + " HTTP/1.1\r\nnonsense\r\n\r\n"}) {
    EXPECT_THAT(tracing_test::ask_link_raw(rest), AllOf(StartsWith("HTTP/1.1 400 "), Not(HasSubstr(kAllow)))) << rest;
  }
  // A program that knows the link, and names no origin.
  EXPECT_EQ(body_of(tracing_test::ask_link_raw("GET " + path + " HTTP/1.1\r\nhOST:  localhost:9001 \r\n\r\n")),
            "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, ServesFurtherOriginsOnRequest) {
  origins_ = {"http://localhost:10000"};
  serve("the trace");
  std::string const path = link();
  EXPECT_THAT(
      tracing_test::ask_link_raw("GET " + path +
                                 " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nOrigin: http://localhost:10000\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nAccess-Control-Allow-Origin: http://localhost:10000\r\n")));
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_EQ(lines_.at(1), "Or: http://localhost:10000/#!/?url=http://127.0.0.1:9001" + path);
}

TEST_F(LinkTest, GivesNoPartsOfTheFile) {
  serve("the trace");
  EXPECT_THAT(ask_link("HEAD " + link(), "Range: bytes=4-6\r\n"), StartsWith("HTTP/1.1 200 "));
  std::string const answer = ask_link("GET " + link(), "Range: bytes=4-6\r\n");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nAccept-Ranges: none\r\n")));
  EXPECT_EQ(body_of(answer), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

std::size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

// Sends `begin`, and then `more` again and again: a gigabyte, or until the server takes no more.
void flood(std::string const& begin, std::string const& more) {
  int const socket = tracing_test::connect_to_link();
  send(socket, begin.data(), begin.size(), MSG_NOSIGNAL);
  for (std::size_t i = 0; i < (std::size_t{1} << 30) / more.size(); ++i) {
    if (send(socket, more.data(), more.size(), MSG_NOSIGNAL) < 0) break;
  }
  close(socket);
}

TEST_F(LinkTest, KeepsNothingOfABodyOrOfEndlessHeaders) {
  serve("the trace");
  std::string const path = link(), host = " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n";
  std::string header = "X-Header: " + std::string(1000, 'a') + "\r\n", headers;
  for (int i = 0; i < 60; ++i) headers += header;
  std::size_t const before = resident_kilobytes();
  flood("POST " + path + host + "Content-Length: 1073741824\r\n\r\n", headers);
  flood("GET " + path + host, headers);
  flood("GET /", std::string(60'000, 'a'));
  EXPECT_LT(resident_kilobytes() - before, 20'000);
  EXPECT_THAT(tracing_test::ask_link_raw("GET " + path + host + "X: " + std::string(8192, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(body_of(ask_link("GET " + path)), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, IsNotHeldUpBySlowClients) {
  serve("the trace");
  std::string const path = link();
  std::vector<int> sockets;
  for (int i = 0; i < 300; ++i) {  // more clients than the server has at a time
    sockets.push_back(tracing_test::connect_to_link());
    send(sockets.back(), "G", static_cast<std::size_t>(i % 2), MSG_NOSIGNAL);
  }
  for (std::size_t i = sockets.size() - 20; i < sockets.size(); ++i) send(sockets[i], "ET /", 4, MSG_NOSIGNAL);
  EXPECT_EQ(body_of(ask_link("GET " + path)), "the trace");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  for (int const socket : sockets) close(socket);
}

TEST_F(LinkTest, EndsARequestThatIsNotThereInTime) {
  serve("the trace");
  (void)link();
  auto const begin = std::chrono::steady_clock::now();
  int const socket = tracing_test::connect_to_link();
  char byte = 'G';
  pollfd source{socket, POLLIN, 0};
  while (poll(&source, 1, 200) == 0) send(socket, &byte, 1, MSG_NOSIGNAL);
  EXPECT_LE(recv(socket, &byte, 1, 0), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
  close(socket);
  ask_link("GET " + link());
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

// Connects, asks for the file, and reads its beginning.
int ask_and_go_on(std::string const& path) {
  int const socket = tracing_test::connect_to_link();
  std::string const request = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n\r\n";
  EXPECT_EQ(send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char bytes[1000];
  EXPECT_GT(recv(socket, bytes, sizeof(bytes), MSG_WAITALL), 0);
  return socket;
}

std::string large_content() {
  std::string content(16 << 20, '.');
  for (std::size_t i = 0; i < content.size(); i += 100) content[i] = static_cast<char>(i);
  return content;
}

TEST_F(LinkTest, ServesAgainWhatWasNotFetchedWhole) {
  serve(large_content());
  close(ask_and_go_on(link()));  // a reload of the page does this
  EXPECT_TRUE(body_of(ask_link("GET " + link())) == large_content());
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, ServesTwoAtATimeButOnce) {
  serve(large_content());
  int const first = ask_and_go_on(link());
  auto second = std::async(std::launch::async, [this] { return ask_link("GET " + link()); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << "it waits for the first";
  std::string rest(1 << 20, 0);
  std::size_t received = 1000;
  for (ssize_t size; (size = recv(first, rest.data(), rest.size(), 0)) > 0;) received += static_cast<std::size_t>(size);
  close(first);
  EXPECT_GT(received, large_content().size());
  EXPECT_EQ(body_of(second.get()), "");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
}

TEST_F(LinkTest, NamesTheFileSoThatAUrlNeedsNoEscapes) {
  serve("x", "a b#c?d&e%20\x1b[31m\xc3\xa9.pftrace");
  EXPECT_THAT(link(), EndsWith("/a_b_c_d_e_20__31m__.pftrace"));
  EXPECT_EQ(body_of(ask_link("GET " + link())), "x");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(lines_.at(2), AllOf(HasSubstr("a b#c?d&e%20\\x1b"), Not(HasSubstr("\x1b"))));
}

TEST_F(LinkTest, SaysThatThePortIsTaken) {
  int const other = LinkPort::listen();
  ASSERT_GE(other, 0);
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(kLong), LinkResult::unavailable);
  EXPECT_THAT(
      lines_,
      ElementsAre("No link can be served: 127.0.0.1:9001, from which alone https://ui.perfetto.dev accepts a file: "
                  "Address already in use. Open " +
                  path_ + " on https://ui.perfetto.dev instead."));
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
  EXPECT_EQ(body_of(ask_link("GET " + link())), "x");
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_EQ(lines_.at(1), "The link works once, within 31536000 s. Ctrl-C ends it.");
}

TEST_F(LinkTest, ServesAnEmptyFile) {
  serve("");
  EXPECT_THAT(ask_link("GET " + link()), StartsWith("HTTP/1.1 200 OK\r\n"));
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
  rlimit const one_more{static_cast<rlim_t>(free) + 1, before.rlim_max};  // one descriptor, for the file
  setrlimit(RLIMIT_NOFILE, &one_more);
  LinkResult const result = serve_here(kLong);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(result, LinkResult::unavailable);
  EXPECT_THAT(lines_, ElementsAre("No link can be served: Too many open files. Open " + path_ +
                                  " on https://ui.perfetto.dev instead."));
}

TEST_F(LinkTest, EndsAfterATime) {
  path_ = folder_.write("run.pftrace", "x");
  EXPECT_EQ(serve_here(std::chrono::milliseconds(100)), LinkResult::timed_out);
  EXPECT_EQ(lines_.back(),
            "No browser fetched the trace within 0.1 s. Open " + path_ + " on https://ui.perfetto.dev instead.");
  EXPECT_TRUE(LinkPort::is_free());
}

std::atomic<int> interrupts{0};

TEST_F(LinkTest, IsEndedByAnInterruptThatTheProgramDoesNotSee) {
  struct sigaction own {
  }, before{};
  own.sa_handler = [](int) { ++interrupts; };
  sigaction(SIGINT, &own, &before);
  serve("x");
  EXPECT_THAT(ask_link("HEAD " + link()), StartsWith("HTTP/1.1 200 "));
  kill(getpid(), SIGINT);
  EXPECT_EQ(result_.get(), LinkResult::interrupted);
  EXPECT_EQ(lines_.back(),
            "Interrupted before a browser fetched the trace. Open " + path_ + " on https://ui.perfetto.dev instead.");
  EXPECT_EQ(interrupts, 0);
  raise(SIGINT);
  EXPECT_EQ(interrupts, 1) << "its handler is back";
  sigaction(SIGINT, &before, nullptr);
}

TEST_F(LinkTest, LeavesSigpipeAsItIs) {
  struct sigaction own {
  }, before{}, after{};
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
  EXPECT_THAT(
      lines_.at(0),
      AllOf(StartsWith("This machine is used by ssh. First run on yours: ssh -N -L 9001:127.0.0.1:9001 -p 2222 "),
            EndsWith("@10.0.0.2")));
  EXPECT_THAT(lines_, Not(testing::Contains("No browser was found here."))) << "it is not looked for";
}

TEST_F(LinkTest, OpensTheBrowserOnRequest) {
  std::string const opened = folder_ / "opened";
  std::filesystem::create_directory(folder_ / "bin");
  std::string const opener = folder_.write(
      "bin/xdg-open", "#!/bin/sh\necho \"$1\" > " + opened + ".part && mv " + opened + ".part " + opened + "\n");
  std::filesystem::permissions(opener, std::filesystem::perms::owner_all);
  Variable const display("DISPLAY", ":0"), path("PATH", ((folder_ / "bin") + ":" + getenv("PATH")).c_str());
  path_ = folder_.write("run.pftrace", "x");
  result_ = std::async(std::launch::async, [this] { return serve_here(kLong, /*opens_browser=*/true); });
  for (int i = 0; i < 1000 && !std::filesystem::exists(opened); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(folder_.read("opened"), "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001" + link() + "\n");
  ask_link("GET " + link());
  EXPECT_EQ(result_.get(), LinkResult::fetched);
  EXPECT_THAT(lines_, Not(testing::Contains("No browser was found here.")));
}

TEST_F(LinkTest, SaysThatThereIsNoBrowserAndWaitsForAnother) {
  Variable const display("DISPLAY", nullptr), wayland("WAYLAND_DISPLAY", nullptr), browser("BROWSER", nullptr);
  path_ = folder_.write("run.pftrace", "x");
  result_ = std::async(std::launch::async, [this] { return serve_here(kLong, /*opens_browser=*/true); });
  EXPECT_EQ(body_of(ask_link("GET " + link())), "x");
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

}}  // namespace tracing
