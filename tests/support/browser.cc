#include "tests/support/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

extern char** environ;

namespace tracing_test {
namespace {

namespace fs = std::filesystem;

// The descriptors of the two pipes in the browser.
constexpr int kItReads = 3;
constexpr int kItWrites = 4;
constexpr int kMaxMilliseconds = 60'000;  // generous, since the machine may be busy

[[noreturn]] void fail(std::string const& what) { throw std::runtime_error("the browser: " + what); }

std::string from_base64(std::string const& text) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (char const c : text) {
    char const* const digit = c == '\0' ? nullptr : std::strchr(kDigits, c);
    if (digit == nullptr) break;
    bits = bits << 6 | static_cast<unsigned>(digit - kDigits);
    if ((count += 6) < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

// Moves a descriptor above the browser's descriptors, so that dup2() never gets two equal arguments.
int high(int file) {
  int const moved = fcntl(file, F_DUPFD_CLOEXEC, 20);
  close(file);
  return moved;
}

}  // namespace

std::string find_browser() {
  if (char const* const given = std::getenv("TESTLOG_CHROMIUM")) return given;
  char const* const path = std::getenv("PATH");
  for (char const* const name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (access((folder + '/' + name).c_str(), X_OK) == 0) return folder + '/' + name;
    }
  }
  return "";
}

Browser::Browser(std::string const& program, int width, int height) {
  char profile[] = "/tmp/testlog_browser_XXXXXX";
  profile_ = mkdtemp(profile);
  try {
    start(program, width, height);
    Json const target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
    for (char const* const domain : {"Page", "Runtime", "Network", "Log"})
      call(std::string(domain) + ".enable", Json::object());
  } catch (...) {
    stop();
    throw;
  }
}

Browser::~Browser() { stop(); }

void Browser::start(std::string const& program, int width, int height) {
  std::vector<std::string> words{program,
                                 "--headless",
                                 "--disable-gpu",
                                 "--disable-quic",
                                 "--disable-dev-shm-usage",
                                 "--no-first-run",
                                 "--no-default-browser-check",
                                 "--disable-background-networking",
                                 "--disable-component-update",
                                 "--disable-extensions",
                                 "--disable-sync",
                                 "--hide-scrollbars",
                                 "--force-device-scale-factor=1",
                                 "--remote-debugging-pipe",
                                 "--user-data-dir=" + profile_,
                                 "--window-size=" + std::to_string(width) + ',' + std::to_string(height)};
  words.emplace_back("--no-sandbox");  // the sandbox refuses root and many containers; the pages are ours
  words.emplace_back("about:blank");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  int there[2], back[2];
  if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) fail("no pipe");
  int const it_reads = high(there[0]);
  int const it_writes = high(back[1]);
  to_ = high(there[1]);
  from_ = high(back[0]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, it_reads, kItReads);
  posix_spawn_file_actions_adddup2(&actions, it_writes, kItWrites);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // its helpers end with it
  int const error = posix_spawn(&process_, program.c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(it_reads);
  close(it_writes);
  if (error != 0) {
    process_ = 0;
    fail(program + " does not start: " + std::strerror(error));
  }
}

void Browser::stop() noexcept {
  if (process_ != 0) {
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  std::error_code ignored;
  // The browser's helpers may not be gone yet, and may write to it.
  for (int i = 0; i < 50 && fs::exists(profile_, ignored); ++i) {
    fs::remove_all(profile_, ignored);
    if (ignored) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Browser::Json Browser::call(std::string const& method, Json parameters) {
  Json message{{"id", ++last_id_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  std::string const text = message.dump() + '\0';
  for (std::size_t done = 0; done < text.size();) {
    ssize_t const written = write(to_, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) fail("it went away");
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  for (;;) {
    Json const answer = read_message();
    if (!answer.contains("id")) {
      note(answer);
    } else if (answer["id"] == last_id_) {
      if (answer.contains("error")) fail(method + ": " + answer["error"].dump());
      return answer.at("result");
    }
  }
}

Browser::Json Browser::read_message() {
  for (std::size_t end; (end = unread_.find('\0')) == unread_.npos;) {
    pollfd source{from_, POLLIN, 0};
    if (poll(&source, 1, kMaxMilliseconds) == 0) fail("no answer in a minute");
    char bytes[1 << 16];
    ssize_t const size = read(from_, bytes, sizeof(bytes));
    if (size == 0 || (size < 0 && errno != EINTR)) fail("it went away");
    if (size > 0) unread_.append(bytes, static_cast<std::size_t>(size));
  }
  std::size_t const end = unread_.find('\0');
  Json message = Json::parse(unread_.substr(0, end));
  unread_.erase(0, end + 1);
  return message;
}

void Browser::note(Json const& event) {
  std::string const method = event.value("method", "");
  if (method == "Network.requestWillBeSent") {
    requests_.push_back(event["params"]["request"]["url"]);
  } else if (method == "Runtime.exceptionThrown") {
    script_errors_.push_back(event["params"]["exceptionDetails"].dump());
  } else if (method == "Log.entryAdded") {
    script_errors_.push_back(event["params"]["entry"].dump());
  }
}

void Browser::open(std::string const& url) {
  Json const answer = call("Page.navigate", {{"url", url}});
  if (answer.contains("errorText")) fail(url + ": " + answer["errorText"].dump());
  for (int i = 0; i < 1000 && evaluate("document.readyState") != "complete"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Browser::Json Browser::evaluate(std::string const& expression) {
  Json const answer = call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails")) fail(expression + ": " + answer["exceptionDetails"].dump());
  return answer["result"].value("value", Json());
}

void Browser::move_to(double x, double y) {
  call("Input.dispatchMouseEvent", {{"type", "mouseMoved"}, {"x", x}, {"y", y}});
}

void Browser::click(double x, double y) {
  move_to(x, y);
  for (char const* const type : {"mousePressed", "mouseReleased"}) {
    call("Input.dispatchMouseEvent", {{"type", type}, {"x", x}, {"y", y}, {"button", "left"}, {"clickCount", 1}});
  }
}

void Browser::type(std::string const& text) { call("Input.insertText", {{"text", text}}); }

void Browser::press(std::string const& key, bool with_control) {
  for (char const* const type : {"rawKeyDown", "keyUp"}) {
    call("Input.dispatchKeyEvent", {{"type", type}, {"key", key}, {"modifiers", with_control ? 2 : 0}});
  }
}

std::string Browser::screenshot() {
  return from_base64(call("Page.captureScreenshot", {{"format", "png"}}).at("data").get<std::string>());
}

}  // namespace tracing_test
