// One thread waits for all sockets, none of which blocks it: a client that says nothing, or a byte a second, costs a
// descriptor until its time is over.
#include "tracing_core/profile/link_server.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <list>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "tracing_core/support/scoped_signal_block.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPort = 9001;
constexpr std::size_t kMaxDrainedBytes = 1 << 16;  // read from a refused client, so that it sees the answer

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [lower](char x, char y) { return lower(x) == lower(y); });
}

struct Request {
  std::string_view method, path, host, origin;
  bool is_valid = false;
  bool has_origin = false;
};

// REQUIRES: `head` ends with an empty line.
Request parse(std::string_view head) noexcept {
  Request request;
  std::string_view const line = head.substr(0, head.find("\r\n"));
  std::size_t const first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return request;
  request.method = line.substr(0, first);
  request.path = line.substr(first + 1, last - first - 1);
  int hosts = 0, origins = 0;
  head.remove_prefix(line.size() + 2);
  while (!head.starts_with("\r\n")) {
    std::string_view const header = head.substr(0, head.find("\r\n"));
    head.remove_prefix(header.size() + 2);
    std::size_t const colon = header.find(':');
    if (colon == header.npos) return request;
    std::string_view value = header.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    if (equals_ignoring_case(header.substr(0, colon), "host")) request.host = value, ++hosts;
    if (equals_ignoring_case(header.substr(0, colon), "origin")) request.origin = value, ++origins;
  }
  request.has_origin = origins > 0;
  request.is_valid = hosts == 1 && origins <= 1;
  return request;
}

class Client {
 public:
  enum class State : std::uint8_t {
    head,      // the head of its request is being read
    waiting,   // it waits until no other client gets the file
    answer,    // the answer is being sent
    file,      // the file is being sent
    draining,  // everything is sent; the client reads it, and closes the connection
    ended,
  };

  explicit Client(int socket) noexcept : socket_(socket) { extend(LinkServer::kMaxQuiet); }
  Client(Client const&) = delete;
  Client& operator=(Client const&) = delete;
  ~Client() { close(socket_); }

  void extend(std::chrono::seconds time) noexcept { deadline = Clock::now() + time; }
  pollfd wanted() const noexcept {
    bool const writes = state == State::answer || state == State::file;
    return {socket_, static_cast<short>(writes ? POLLOUT : POLLIN), 0};
  }

  // Reads more of the request. Returns true if its head is complete, without the bytes that follow it, or too long.
  bool read_head() {
    char bytes[4096];
    ssize_t const size = recv(socket_, bytes, sizeof(bytes), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return state = State::ended, false;
    if (size > 0 && head.empty()) extend(LinkServer::kMaxHeadTime);
    if (size > 0) head.append(bytes, static_cast<std::size_t>(size));
    std::size_t const end = head.find("\r\n\r\n");
    if (end != head.npos) return head.resize(end + 4), true;
    return head.size() > LinkServer::kMaxHeadBytes;
  }

  void send_answer() {
    ssize_t const size = send(socket_, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR) state = State::ended;
    if (size > 0) sent += static_cast<std::size_t>(size), extend(LinkServer::kMaxSilence);
    if (sent < answer.size()) return;
    sent = 0;
    gets_file ? void(state = State::file) : finish();
  }
  void send_file(LinkServer::File const& file) {
    char bytes[1 << 16];
    if (sent < file.size) {
      ssize_t const got =
          pread(file.descriptor, bytes, std::min(sizeof(bytes), file.size - sent), static_cast<off_t>(sent));
      if (got <= 0) return void(state = State::ended);  // the file became shorter
      ssize_t const size = send(socket_, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL);
      if (size < 0 && errno != EAGAIN && errno != EINTR) return void(state = State::ended);
      if (size > 0) sent += static_cast<std::size_t>(size), extend(LinkServer::kMaxSilence);
    }
    if (sent == file.size) finish();
  }
  void drain() {
    char bytes[4096];
    ssize_t const size = recv(socket_, bytes, sizeof(bytes), 0);
    if (size > 0) drained_ += static_cast<std::size_t>(size);
    bool const is_open = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
    was_reset_ = size < 0 && !is_open;
    if (!is_open || drained_ > kMaxDrainedBytes) state = State::ended;
  }
  // Returns true if the client's machine has received everything that was sent, except the end of the connection, which
  // counts as a byte.
  bool has_received_all() const noexcept {
    int left = 0;
    return was_all_sent_ && !was_reset_ && ioctl(socket_, SIOCOUTQ, &left) == 0 && left <= 1;
  }

  State state = State::head;
  Clock::time_point deadline;
  std::string head, answer;
  bool gets_file = false;
  std::size_t sent = 0;  // of the answer, then of the file

 private:
  void finish() {
    was_all_sent_ = true;
    shutdown(socket_, SHUT_WR);
    state = State::draining;
    extend(LinkServer::kMaxSilence);
  }

  int const socket_;
  std::size_t drained_ = 0;
  bool was_all_sent_ = false, was_reset_ = false;
};

class Server final : public LinkServer {
 public:
  Server(File file, std::vector<std::string> origins, Events events)
      : file_(std::move(file)), origins_(std::move(origins)), events_(std::move(events)) {}
  ~Server() override {
    if (thread_.joinable()) {
      std::uint64_t const one = 1;
      while (write(wake_up_, &one, sizeof(one)) < 0 && errno == EINTR) {
      }
      thread_.join();
    }
    if (listener_ >= 0) close(listener_);
    if (wake_up_ >= 0) close(wake_up_);
  }

  // Starts to serve the file on its port, on a thread of its own. Returns false and sets `error` if it cannot listen on
  // the port. Throws std::system_error if the thread cannot be started.
  bool listen(std::string& error) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(kPort);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const yes = 1;
    wake_up_ = eventfd(0, EFD_CLOEXEC);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wake_up_ < 0 || listener_ < 0) return error = std::generic_category().message(errno), false;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(listener_, reinterpret_cast<sockaddr const*>(&at), sizeof(at)) != 0 || ::listen(listener_, 128) != 0) {
      error = "127.0.0.1:9001, from which alone https://ui.perfetto.dev accepts a file: " +
              std::generic_category().message(errno);
      return false;
    }
    ScopedAsyncSignalBlock const blocked;
    thread_ = std::thread([this] { run(); });
    return true;
  }

 private:
  using State = Client::State;

  void run() {
    std::vector<pollfd> sockets;
    for (;;) {
      sockets.assign({{wake_up_, POLLIN, 0}, {listener_, POLLIN, 0}});
      for (Client const& client : clients_) sockets.push_back(client.wanted());
      if (poll(sockets.data(), sockets.size(), milliseconds_left()) < 0 && errno != EINTR) return;
      if (sockets[0].revents != 0) return;
      std::size_t i = 2;
      for (Client& client : clients_) {
        if (sockets[i++].revents != 0) go_on(client);
        if (client.deadline <= Clock::now()) client.state = State::ended;
      }
      remove_ended();
      serve_next();
      if (sockets[1].revents != 0) accept_clients();
    }
  }
  int milliseconds_left() const {
    Clock::time_point next = Clock::time_point::max();
    for (Client const& client : clients_) next = std::min(next, client.deadline);
    if (next == Clock::time_point::max()) return -1;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
  }

  void accept_clients() {
    for (std::size_t i = 0; i < kMaxClients; ++i) {
      int const socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) {
        // Without a descriptor the connection would wake up poll() again at once.
        if ((errno == EMFILE || errno == ENFILE) && !make_room())
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return;
      }
      clients_.emplace_back(socket);
      if (clients_.size() > kMaxClients) make_room();
    }
  }
  // Ends the oldest client that has not asked for the file. Returns false if all clients have asked for it.
  bool make_room() {
    auto const oldest = std::find_if(clients_.begin(), clients_.end(),
                                     [](Client const& c) { return !c.gets_file && c.state != State::waiting; });
    if (oldest == clients_.end()) return false;
    clients_.erase(oldest);
    return true;
  }
  void remove_ended() {
    for (auto client = clients_.begin(); client != clients_.end();) {
      if (client->state != State::ended) {
        ++client;
        continue;
      }
      bool const had_file = &*client == fetching_, is_whole = client->has_received_all();
      clients_.erase(client++);
      if (!had_file) continue;
      fetching_ = nullptr;
      has_given_ |= is_whole;
      events_.ended(is_whole);
    }
  }
  void serve_next() {
    for (Client& client : clients_) {
      if (client.state != State::waiting || fetching_ != nullptr) continue;
      if (has_given_) {
        refuse(client, "404 Not Found");
        continue;
      }
      fetching_ = &client;
      client.gets_file = true;
      begin_answer(client, "200 OK", file_headers());
      events_.begun();
    }
  }

  void go_on(Client& client) {
    switch (client.state) {
      case State::head:
        if (client.read_head()) respond(client);
        break;
      case State::answer: client.send_answer(); break;
      case State::file: client.send_file(file_); break;
      case State::waiting:
      case State::draining: client.drain(); break;
      case State::ended: break;
    }
  }

  void respond(Client& client) {
    if (client.head.size() > kMaxHeadBytes) return refuse(client, "431 Request Header Fields Too Large");
    Request const request = parse(client.head);
    if (!request.is_valid) return refuse(client, "400 Bad Request");
    if (request.host != "127.0.0.1:9001" && request.host != "localhost:9001") return refuse(client, "403 Forbidden");
    bool const is_known = std::find(origins_.begin(), origins_.end(), request.origin) != origins_.end();
    if (request.has_origin && !is_known) return refuse(client, "403 Forbidden");
    client.answer =
        "Access-Control-Allow-Origin: " + (request.has_origin ? std::string(request.origin) : origins_.front()) +
        "\r\n";
    if (request.method == "OPTIONS") return preflight(client);
    if (request.method != "GET" && request.method != "HEAD")
      return begin_answer(client, "405 Method Not Allowed", "Allow: GET, HEAD, OPTIONS\r\nContent-Length: 0\r\n");
    bool const is_file = request.path.size() == file_.path.size() + 1 && request.path.substr(1) == file_.path;
    if (!is_file) return begin_answer(client, "404 Not Found", "Content-Length: 0\r\n");
    if (request.method == "HEAD") return begin_answer(client, "200 OK", file_headers());
    client.state = State::waiting;
    client.deadline = Clock::time_point::max();  // the client that it waits for has a deadline
  }
  void preflight(Client& client) {
    begin_answer(client, "204 No Content",
                 "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\nAccess-Control-Allow-Headers: *\r\n"
                 "Access-Control-Allow-Private-Network: true\r\n");
  }
  std::string file_headers() const {
    return "Content-Type: application/octet-stream\r\nAccept-Ranges: none\r\nContent-Length: " +
           std::to_string(file_.size) + "\r\n";
  }
  // Refuses a client, whose origin may have no right to know anything: the answer names no origins.
  static void refuse(Client& client, std::string_view status) {
    client.answer.clear();
    begin_answer(client, status, "Content-Length: 0\r\n");
  }
  // Begins to send an answer: the headers that client.answer already has, then `headers`.
  static void begin_answer(Client& client, std::string_view status, std::string_view headers) {
    std::string text = "HTTP/1.1 ";
    text.append(status).append("\r\n").append(client.answer).append(headers);
    text += "Cache-Control: no-store\r\nVary: Origin\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
    client.answer = std::move(text);
    client.state = State::answer;
    client.extend(kMaxSilence);
  }

  File const file_;
  std::vector<std::string> const origins_;
  Events const events_;
  int wake_up_ = -1, listener_ = -1;
  std::list<Client> clients_;  // in the order of their connections
  Client const* fetching_ = nullptr;
  bool has_given_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<LinkServer> LinkServer::start(File file, std::vector<std::string> origins, Events events,
                                              std::string& error) {
  auto server = std::make_unique<Server>(std::move(file), std::move(origins), std::move(events));
  if (!server->listen(error)) return nullptr;
  return server;
}

}}}  // namespace tracing::v1::internal
