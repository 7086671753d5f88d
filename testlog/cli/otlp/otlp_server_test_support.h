// Server: a receiver of OTLP for tests, which gives the answers that a test names.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace testlog::cli::otlp {

inline constexpr char kTaken[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
inline constexpr char kReset[] = "reset";  // in place of an answer: closes the connection
inline constexpr char kNone[] = "none";    // keeps the connection and says nothing
inline constexpr char kDrip[] = "drip";    // sends one byte after the other

inline std::string answer(std::string const& status, std::string const& body = "", std::string const& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

// A server that gives one answer after the other, the last one again and again, each on a connection of its own.
class Server {
 public:
  explicit Server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    is_done_ = true;
    thread_.join();
    close(listener_);
    for (int const connection : kept_) close(connection);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> requests() {
    std::lock_guard const lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (!is_done_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      int const connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      std::string const request = read_request(connection);
      std::size_t number = 0;
      {
        std::lock_guard const lock(mutex_);
        requests_.push_back(request);
        number = requests_.size();
      }
      give(connection, answers_[std::min(number, answers_.size()) - 1]);
    }
  }
  static std::string read_request(int connection) {
    std::string request;
    std::size_t wanted = std::string::npos;
    char bytes[65536];
    while (request.size() < wanted) {
      ssize_t const count = recv(connection, bytes, sizeof(bytes), 0);
      if (count <= 0) break;
      request.append(bytes, static_cast<std::size_t>(count));
      std::size_t const head = request.find("\r\n\r\n"), length = request.find("Content-Length: ");
      if (head != request.npos && wanted == request.npos)
        wanted = head + 4 + (length == request.npos ? 0 : std::stoul(request.substr(length + 16)));
    }
    return request;
  }
  void give(int connection, std::string const& text) {
    if (text == kNone) return kept_.push_back(connection);
    if (text == kReset) {
      linger const at_once{1, 0};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    } else if (text == kDrip) {
      for (char const c : std::string("HTTP/1.1 200 OK\r\nX: ") + std::string(10'000, 'x')) {
        if (is_done_ || send(connection, &c, 1, MSG_NOSIGNAL) != 1) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    } else {
      (void)!send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    }
    close(connection);
  }

  std::vector<std::string> const answers_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> is_done_{false};
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<int> kept_;
  std::thread thread_;
};

/// Returns the body of a request.
inline std::string body_of(std::string const& request) { return request.substr(request.find("\r\n\r\n") + 4); }

}  // namespace testlog::cli::otlp
