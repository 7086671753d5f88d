// A page of another origin fetches a trace through the link of `testlog open`, as ui.perfetto.dev does, in a browser.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "testlog/testdata/run.h"
#include "tests/support/browser.h"
#include "tests/support/link_client.h"
#include "tests/support/temporary_folder.h"

namespace {

using testlog::testdata::Outcome;
using tracing_test::Browser;
using tracing_test::LinkPort;

// Serves an empty page at another port, which makes it another origin.
class Page {
 public:
  Page() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    if (bind(socket_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(socket_, 5) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      return;
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { answer(); });
  }
  ~Page() {
    shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(socket_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  void answer() const {
    constexpr char kAnswer[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<!doctype html>";
    for (int client; (client = accept(socket_, nullptr, nullptr)) >= 0; close(client)) {
      char request[4096];
      timeval const limit{1, 0};  // a browser opens connections that it does not use
      setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      if (recv(client, request, sizeof(request), 0) > 0) send(client, kAnswer, sizeof(kAnswer) - 1, MSG_NOSIGNAL);
    }
  }

  int const socket_;
  int port_ = 0;
  std::thread thread_;
};

TEST(LinkInBrowser, IsFetchedByAPageOfAnotherOrigin) {
  std::string const program = tracing_test::find_browser();
  if (program.empty()) GTEST_SKIP() << "Chromium is not installed (tools/setup.sh browser installs it)";
  LinkPort const port;
  if (std::string const why = LinkPort::why_not(); !why.empty()) GTEST_SKIP() << why;
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder.write("run.pftrace", "the trace, \xff\x01 in bytes");
  Page const page;
  Browser browser(program, 400, 300);
  browser.open(page.url());
  auto opened = std::async(std::launch::async, [&] {
    std::string const origin = page.url().substr(0, page.url().size() - 1);
    return testlog::testdata::run({"/bin/sh", "-c", "exec \"$@\" >\"$0\"", folder / "printed", TESTLOG_COMMAND, "open",
                                   "--no-browser", "--origin", origin, file},
                                  {{"CI", ""}, {"SSH_CONNECTION", ""}, {"SSH_TTY", ""}});
  });
  close(tracing_test::connect_to_link());  // waits until the command listens
  std::string path;
  for (int i = 0; i < 1000 && path.empty(); ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    path = tracing_test::path_of_link(testlog::testdata::content_of(folder / "printed"));
  // First the page looks for a trace processor, with a type of content that needs a preflight.
  browser.evaluate("window.path = '" + path + "'");
  browser.evaluate(R"((function () {
    const url = "http://127.0.0.1:9001";
    window.seen = null;
    fetch(url + "/status", {method: "POST", headers: {"Content-Type": "application/x-protobuf"}, body: "x", mode: "cors"})
      .then((answer) => { window.status_of_post = answer.status; return fetch(url + window.path); })
      .then((answer) => answer.arrayBuffer())
      .then((bytes) => { window.seen = [window.status_of_post, Array.from(new Uint8Array(bytes))]; })
      .catch((error) => { window.seen = ["failed: " + error, []]; });
  })())");
  Browser::Json seen;
  for (int i = 0; i < 1000 && (seen = browser.evaluate("window.seen")).is_null(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(seen.is_array());
  EXPECT_EQ(seen[0], 405) << "of the POST";
  std::string content;
  for (int const byte : seen[1]) content += static_cast<char>(byte);
  EXPECT_EQ(content, folder.read("run.pftrace"));
  Outcome const outcome = opened.get();
  EXPECT_EQ(outcome.exit_code, 0) << "it goes on once the page has the file";
  EXPECT_TRUE(LinkPort::is_free());
}

}  // namespace
