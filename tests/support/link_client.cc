#include "tests/support/link_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

namespace tracing_test {
namespace {

sockaddr_in address() {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9001);
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  return to;
}

int try_to_connect() {
  int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in const to = address();
  if (connect(socket, reinterpret_cast<sockaddr const*>(&to), sizeof(to)) == 0) return socket;
  close(socket);
  return -1;
}

}  // namespace

LinkPort::LinkPort() : lock_(open("/tmp/testlog_test_port_9001", O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
  while (flock(lock_, LOCK_EX) != 0 && errno == EINTR) {
  }
}
LinkPort::~LinkPort() { close(lock_); }

bool LinkPort::is_free() {
  int const socket = try_to_connect();
  if (socket >= 0) close(socket);
  return socket < 0;
}

std::string LinkPort::why_not() { return is_free() ? "" : "127.0.0.1:9001 is taken on this machine"; }

int LinkPort::listen() {
  int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int const yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in const at = address();
  if (bind(socket, reinterpret_cast<sockaddr const*>(&at), sizeof(at)) == 0 && ::listen(socket, 5) == 0) return socket;
  close(socket);
  return -1;
}

int connect_to_link() {
  for (int i = 0; i < 1000; ++i) {
    if (int const socket = try_to_connect(); socket >= 0) return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

std::string ask_link_raw(std::string const& bytes) {
  int const socket = connect_to_link();
  if (socket < 0) return "nobody listens";
  for (std::size_t sent = 0; sent < bytes.size();) {
    ssize_t const size = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR) break;
    if (size > 0) sent += static_cast<std::size_t>(size);
  }
  std::string answer;
  char room[1 << 16];
  for (;;) {
    ssize_t const size = recv(socket, room, sizeof(room), 0);
    if (size > 0) answer.append(room, static_cast<std::size_t>(size));
    if (size == 0 || (size < 0 && errno != EINTR)) break;
  }
  close(socket);
  return answer;
}

std::string ask_link(std::string const& request, std::string const& more_headers) {
  return ask_link_raw(request + " HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nOrigin: https://ui.perfetto.dev\r\n" +
                      more_headers + "\r\n");
}

std::string path_of_link(std::string const& text) {
  constexpr std::string_view kBefore = "?url=http://127.0.0.1:9001";
  std::size_t const at = text.find(kBefore), end = text.find('\n', at);
  return at == text.npos ? "" : text.substr(at + kBefore.size(), end == text.npos ? end : end - at - kBefore.size());
}

std::string body_of(std::string const& answer) {
  std::size_t const end = answer.find("\r\n\r\n");
  return end == answer.npos ? "" : answer.substr(end + 4);
}

}  // namespace tracing_test
