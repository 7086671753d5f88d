#include "tracing_core/profile/link.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "tracing_core/export/write_all.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/profile/link_server.h"
#include "tracing_core/support/characters.h"

extern char** environ;

namespace tracing { inline namespace v1 {
namespace {

using internal::LinkServer;

constexpr std::string_view kPage = "https://ui.perfetto.dev";

bool is_set(char const* variable) noexcept {
  char const* const value = secure_getenv(variable);
  return value != nullptr && *value != '\0';
}

// Returns the file's name, with `_` for characters that a URL, or a URL in a URL, would have to encode.
std::string name_in_url(std::string const& path) {
  std::string name = std::filesystem::path(path).filename();
  for (char& c : name) {
    bool const is_plain = support::is_word_character(c) || c == '.' || c == '-';
    if (!is_plain) c = '_';
  }
  return name;
}

// Returns 128 random bits as hexadecimal digits; empty if the system cannot give them.
std::string random_text() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string text;
  for (unsigned char const byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// ---- where the browser is ----

bool is_remote() noexcept { return is_set("SSH_CONNECTION") || is_set("SSH_TTY"); }

// Returns the ssh command that forwards port 9001 of the user's machine to this machine, as far as this machine knows
// its own name.
std::string ssh_line() {
  std::string client, client_port, server, port;
  if (is_set("SSH_CONNECTION"))
    std::istringstream(secure_getenv("SSH_CONNECTION")) >> client >> client_port >> server >> port;
  if (server.empty()) {
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    server = name;
  }
  passwd const* const user = getpwuid(getuid());
  return fmt::format("ssh -N -L 9001:127.0.0.1:9001 {}{}{}", port.empty() || port == "22" ? "" : "-p " + port + " ",
                     user == nullptr ? "" : std::string(user->pw_name) + "@", server);
}

// Returns false if it finds no browser. The shell starts the browser in the background and ends, so none of our
// processes waits for the browser.
bool open_browser(std::string const& url) {
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && !is_set("BROWSER")) return false;
  std::string words[] = {
      "sh", "-c", "command -v xdg-open >/dev/null || exit 1; xdg-open \"$1\" </dev/null >/dev/null 2>&1 &", "sh", url};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  pid_t shell = 0;
  if (posix_spawn(&shell, "/bin/sh", nullptr, nullptr, arguments, environ) != 0) return false;
  int status = 0;
  while (waitpid(shell, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- waiting ----

constexpr char kFetched = 'f', kEnded = 'e', kInterrupted = 'i';

std::atomic<int> interrupt_fd{-1};

void write_byte(int fd, char byte) noexcept {
  while (write(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

void on_interrupt(int) {
  int const before = errno;
  write_byte(interrupt_fd, kInterrupted);
  errno = before;
}

// Wakes up the waiting thread by a pipe, for reports of the server and for SIGINT. Handles SIGINT as long as the object
// exists, unless the process ignores SIGINT.
class WakeUps {
 public:
  WakeUps() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    int none = -1;
    owns_signal_ = interrupt_fd.compare_exchange_strong(none, ends_[1]);
    if (!owns_signal_) return;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  }
  WakeUps(WakeUps const&) = delete;
  WakeUps& operator=(WakeUps const&) = delete;
  ~WakeUps() {
    if (owns_signal_) {
      sigaction(SIGINT, &before_, nullptr);
      interrupt_fd = -1;
    }
    for (int const end : ends_) close(end);
  }

  void add(char byte) const noexcept { write_byte(ends_[1], byte); }
  // Returns the next byte; zero if none comes within the limit.
  char next(std::chrono::milliseconds limit) const noexcept {
    pollfd source{ends_[0], POLLIN, 0};
    char byte = 0;
    if (poll(&source, 1, static_cast<int>(limit.count())) > 0 && read(ends_[0], &byte, 1) == 1) return byte;
    return 0;
  }

 private:
  int ends_[2];
  bool owns_signal_ = false;
  struct sigaction before_ {};
};

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int const number_;
};

class Link {
 public:
  Link(std::string const& path, LinkOptions const& options)
      : path_(std::filesystem::absolute(path).lexically_normal()),
        shown_(sanitized_in_line(path_)),
        options_(options),
        time_limit_(std::min<std::chrono::milliseconds>(options.time_limit, kMaxLimit)) {}

  LinkResult serve() {
    if (is_set("CI")) return end(LinkResult::in_ci, fmt::format("In CI no link is served. The trace is {}", shown_));
    try {
      return serve_file();
    } catch (std::system_error const& error) {  // no descriptor or thread is left
      return end_unserved(error.code().message());
    }
  }

 private:
  static constexpr std::chrono::hours kMaxLimit{24 * 365};

  LinkResult serve_file() {
    // Non-blocking, so as not to wait for a writer if the file is a pipe.
    Descriptor const file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.number() < 0 || fstat(file.number(), &status) != 0) return end_unread(errno);
    if (!S_ISREG(status.st_mode)) return end_unread(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    std::string const secret = random_text();
    if (secret.empty()) return end_unserved("no random numbers");
    LinkServer::File const served{file.number(), static_cast<std::size_t>(status.st_size),
                                  secret + "/" + name_in_url(path_)};
    std::vector<std::string> origins{std::string(kPage)};
    origins.insert(origins.end(), options_.origins.begin(), options_.origins.end());
    WakeUps const wake_ups;
    std::string error;
    auto const server = LinkServer::start(served, origins,
                                          {[this] { ++fetching_; },
                                           [this, &wake_ups](bool whole) {
                                             --fetching_;
                                             wake_ups.add(whole ? kFetched : kEnded);
                                           }},
                                          error);
    if (server == nullptr) return end_unserved(error);
    invite(fmt::format("/#!/?url=http://127.0.0.1:9001/{}", served.path));
    return wait(wake_ups);
  }
  void print(std::string const& line) const {
    if (options_.print != nullptr) return options_.print(line);
    internal::write_once(STDERR_FILENO, line + "\n");
  }
  LinkResult end(LinkResult result, std::string const& line) const { return print(line), result; }
  LinkResult end_unread(int error) const {
    return end(LinkResult::unavailable,
               fmt::format("Cannot read {}: {}", shown_, std::generic_category().message(error)));
  }
  LinkResult end_unserved(std::string const& reason) const {
    return end_unfetched(LinkResult::unavailable, fmt::format("No link can be served: {}.", reason));
  }
  LinkResult end_unfetched(LinkResult result, std::string const& reason) const {
    return end(result, fmt::format("{} Open {} on {} instead.", reason, shown_, kPage));
  }

  void invite(std::string const& rest) const {
    std::string const url = std::string(kPage) + rest;
    if (is_remote()) print(fmt::format("This machine is used by ssh. First run on yours: {}", ssh_line()));
    print(fmt::format("Open in a browser: {}", url));
    for (std::string const& origin : options_.origins) print(fmt::format("Or: {}{}", sanitized_in_line(origin), rest));
    if (options_.opens_browser && !is_remote() && !open_browser(url)) print("No browser was found here.");
    print(fmt::format("The link works once, within {} s. Ctrl-C ends it.", seconds()));
  }

  LinkResult wait(WakeUps const& wake_ups) const {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPoll{200}, kHour = std::chrono::hours(1);
    Clock::time_point const deadline = Clock::now() + time_limit_;
    for (;;) {
      auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      // A browser that is fetching the file at the deadline may go on; if it stops, the server drops it.
      bool const is_over = left.count() <= 0 && fetching_ == 0;
      char const event = wake_ups.next(is_over            ? std::chrono::milliseconds(0)
                                       : left.count() > 0 ? std::min(left, kHour)
                                                          : kPoll);
      if (event == kFetched) return end(LinkResult::fetched, fmt::format("The browser has fetched {}", shown_));
      if (event == kInterrupted)
        return end_unfetched(LinkResult::interrupted, "Interrupted before a browser fetched the trace.");
      if (is_over)
        return end_unfetched(LinkResult::timed_out,
                             fmt::format("No browser fetched the trace within {} s.", seconds()));
    }
  }
  std::string seconds() const { return fmt::format("{}", static_cast<double>(time_limit_.count()) / 1000); }

  std::string const path_;
  std::string const shown_;
  LinkOptions const& options_;
  std::chrono::milliseconds const time_limit_;
  std::atomic<int> fetching_{0};
};

}  // namespace

LinkResult serve_perfetto_link(std::string const& path, LinkOptions const& options) {
  return Link(path, options).serve();
}

}}  // namespace tracing::v1
