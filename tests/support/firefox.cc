#include "tests/support/firefox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

extern char** environ;

namespace tracing_test {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxMilliseconds = 60'000;  // generous, since the machine may be busy

[[noreturn]] void fail(std::string const& what) { throw std::runtime_error("Firefox: " + what); }

// Waits until the browser has written the number of its port to a file of its profile.
int port_of(std::string const& profile) {
  for (int waited = 0; waited < kMaxMilliseconds; waited += 50) {
    int port = 0;
    if (std::ifstream(profile + "/MarionetteActivePort") >> port) return port;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail("does not start");
}

}  // namespace

std::string find_firefox() {
  if (char const* const given = std::getenv("TESTLOG_FIREFOX")) return given;
  char const* const path = std::getenv("PATH");
  for (char const* const name : {"firefox-esr", "firefox"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (access((folder + '/' + name).c_str(), X_OK) == 0) return folder + '/' + name;
    }
  }
  return "";
}

Firefox::Firefox(std::string const& program) {
  char profile[] = "/tmp/testlog_firefox_XXXXXX";
  profile_ = mkdtemp(profile);
  try {
    start(program);
    (void)read_message();  // its greeting
    call("WebDriver:NewSession", {{"capabilities", Json::object()}});
  } catch (...) {
    stop();
    throw;
  }
}

Firefox::~Firefox() { stop(); }

void Firefox::start(std::string const& program) {
  std::ofstream(profile_ + "/user.js") << "user_pref(\"marionette.port\", 0);\n"
                                          "user_pref(\"network.proxy.type\", 1);\n"
                                          "user_pref(\"network.proxy.socks\", \"127.0.0.1\");\n"
                                          "user_pref(\"network.proxy.socks_port\", 9);\n";  // no network
  std::vector<std::string> words{program, "--headless", "--marionette", "--no-remote", "--profile", profile_};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int const file : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // its helpers end with it
  int const error = posix_spawn(&process_, program.c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    process_ = 0;
    fail(program + " does not start");
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_of(profile_)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket_, reinterpret_cast<sockaddr const*>(&address), sizeof(address)) != 0)
    fail("refuses the connection");
}

void Firefox::stop() noexcept {
  if (process_ != 0) {
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (socket_ >= 0) close(socket_);
  std::error_code ignored;
  // The browser's helpers may not be gone yet, and may write to it.
  for (int i = 0; i < 50 && fs::exists(profile_, ignored); ++i) {
    fs::remove_all(profile_, ignored);
    if (ignored) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// A message is its size, a colon, and JSON.
Firefox::Json Firefox::read_message() {
  auto const read_more = [this] {
    pollfd source{socket_, POLLIN, 0};
    if (poll(&source, 1, kMaxMilliseconds) == 0) fail("no answer in a minute");
    char bytes[1 << 16];
    ssize_t const size = read(socket_, bytes, sizeof(bytes));
    if (size == 0 || (size < 0 && errno != EINTR)) fail("it went away");
    if (size > 0) unread_.append(bytes, static_cast<std::size_t>(size));
  };
  while (unread_.find(':') == unread_.npos) read_more();
  std::size_t const colon = unread_.find(':'), size = std::stoul(unread_);
  while (unread_.size() < colon + 1 + size) read_more();
  Json message = Json::parse(unread_.substr(colon + 1, size));
  unread_.erase(0, colon + 1 + size);
  return message;
}

Firefox::Json Firefox::call(std::string const& command, Json const& parameters) {
  std::string const json = Json{0, ++last_id_, command, parameters}.dump();
  std::string const text = std::to_string(json.size()) + ':' + json;
  for (std::size_t done = 0; done < text.size();) {
    ssize_t const written = write(socket_, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) fail("it went away");
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  Json const answer = read_message();
  if (!answer.at(2).is_null()) fail(command + ": " + answer.at(2).dump());
  return answer.at(3);
}

void Firefox::open(std::string const& url) { call("WebDriver:Navigate", {{"url", url}}); }

Firefox::Json Firefox::run(std::string const& script) {
  Json const answer = call("WebDriver:ExecuteScript",
                           {{"script", script}, {"args", Json::array()}, {"sandbox", nullptr}, {"newSandbox", false}});
  return answer.is_object() ? answer.value("value", Json()) : Json();
}

}  // namespace tracing_test
