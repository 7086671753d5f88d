#include "tracing_core/profile/link_server.h"

#ifndef TRACING_HAS_HTTPLIB

namespace tracing::inline v1::internal {

std::unique_ptr<LinkServer> LinkServer::start(File, Events, std::string& error) {
  error = "this build has no cpp-httplib (Debian and Ubuntu: libcpp-httplib-dev)";
  return nullptr;
}

}  // namespace tracing::inline v1::internal

#else

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <httplib.h>

#include "tracing_core/internal/scoped_signal_block.h"

namespace tracing::inline v1::internal {
namespace {

constexpr char kHost[] = "127.0.0.1";
constexpr int kPort = 9001;
constexpr std::size_t kThreads = 4;  // browsers open connections before they need them

// The constructor of httplib::Server ignores SIGPIPE, which is the program's to decide.
class ScopedSigpipe {
 public:
  ScopedSigpipe() noexcept { sigaction(SIGPIPE, nullptr, &before_); }
  ScopedSigpipe(ScopedSigpipe const&) = delete;
  ScopedSigpipe& operator=(ScopedSigpipe const&) = delete;
  ~ScopedSigpipe() { sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_;
};

class Server final : public LinkServer {
 public:
  Server(File file, Events events) : file_(std::move(file)), events_(std::move(events)) {
    // httplib would share the port with another program by SO_REUSEPORT.
    server_.set_socket_options([](socket_t socket) {
      int const yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      fcntl(socket, F_SETFD, FD_CLOEXEC);
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_max_count(1);
    server_.set_keep_alive_timeout(1);  // of a connection that says nothing, for which the end waits
    server_.set_read_timeout(std::chrono::seconds(5));
    server_.set_write_timeout(std::chrono::seconds(5));
    server_.set_pre_routing_handler([](httplib::Request const& request, httplib::Response& response) {
      response.set_header("Access-Control-Allow-Origin", "*");
      response.set_header("Cache-Control", "no-store");  // the next trace may have the same name
      if (request.method != "OPTIONS") return httplib::Server::HandlerResponse::Unhandled;
      response.set_header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
      response.set_header("Access-Control-Allow-Headers", "*");
      response.set_header("Access-Control-Allow-Private-Network", "true");
      response.status = 204;
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get("/.*", [this](httplib::Request const& request, httplib::Response& response) { get(request, response); });
  }
  ~Server() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool listen(std::string& error) {
    errno = 0;
    if (!server_.bind_to_port(kHost, kPort)) {
      error = "127.0.0.1:9001, from which alone https://ui.perfetto.dev accepts a file: " +
              std::generic_category().message(errno == 0 ? EADDRINUSE : errno);
      return false;
    }
    {
      ScopedAsyncSignalBlock const blocked;
      thread_ = std::thread([this] {
        server_.listen_after_bind();
        has_ended_ = true;
      });
    }
    // stop() does nothing before that.
    while (!server_.is_running() && !has_ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }

 private:
  void get(httplib::Request const& request, httplib::Response& response) {
    if (request.path != "/" + file_.name) {
      response.status = 404;
      return;
    }
    bool const is_whole = request.method == "GET" && request.ranges.empty();
    if (is_whole) events_.begun();
    response.set_content_provider(
        file_.size, "application/octet-stream",
        [this](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          char bytes[1 << 16];
          ssize_t const size = pread(file_.descriptor, bytes, std::min(length, sizeof(bytes)), static_cast<off_t>(offset));
          return size > 0 && sink.write(bytes, static_cast<std::size_t>(size));
        },
        [this, is_whole](bool success) {
          if (is_whole) events_.ended(success || file_.size == 0);  // an empty file is never provided
        });
  }

  ScopedSigpipe const sigpipe_;  // ends last
  File const file_;
  Events const events_;
  httplib::Server server_;
  std::atomic<bool> has_ended_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<LinkServer> LinkServer::start(File file, Events events, std::string& error) {
  auto server = std::make_unique<Server>(std::move(file), std::move(events));
  if (!server->listen(error)) return nullptr;
  return server;
}

}  // namespace tracing::inline v1::internal

#endif
