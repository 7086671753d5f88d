#include "testlog/cli/runs/repeated_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "tracing_core/model/instant.h"

extern char** environ;

namespace testlog::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kRunning = -1;

std::vector<std::string> environment_with(RepeatedProcess::Variables const& variables) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    std::string_view const name = std::string_view(*at).substr(0, std::string_view(*at).find('='));
    bool const is_given = std::any_of(variables.begin(), variables.end(),
                                      [name](auto const& variable) { return variable.first == name; });
    if (!is_given) all.emplace_back(*at);
  }
  for (auto const& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Starts the program in a process group of its own.
pid_t start(std::vector<std::string> words, RepeatedProcess::Variables const& variables, int log,
            sigset_t const& mask) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  std::vector<std::string> environment = environment_with(variables);
  pid_t child = 0;
  int const error = posix_spawnp(&child, words[0].c_str(), &actions, &attributes, pointers_to(words).data(),
                                 pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error("hunt: cannot run " + words[0] + ": " + std::generic_category().message(error));
  return child;
}

}  // namespace

RepeatedProcess::RepeatedProcess() {
  sigemptyset(&signals_);
  for (int const signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
}

RepeatedProcess::~RepeatedProcess() { sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

// Returns the status of the child, or kRunning at `until_ns` or once a signal asks for the end.
int RepeatedProcess::wait_for(pid_t child, std::int64_t until_ns) noexcept {
  int status = 0;
  while (true) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    std::int64_t const left = until_ns - tracing::Instant::now().ns;
    if (left <= 0) return kRunning;
    timespec const time{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
    int const signal = sigtimedwait(&signals_, nullptr, &time);
    if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) continue;
    is_interrupted_ = true;
    return kRunning;
  }
}

RepeatedProcess::Outcome RepeatedProcess::run(std::vector<std::string> const& words, Variables const& variables,
                                              std::string const& log, std::int64_t deadline_ns,
                                              std::function<void()> const& tick) {
  int const file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("hunt: cannot write " + log + ": " + std::generic_category().message(errno));
  pid_t child = 0;
  try {
    child = start(words, variables, file, mask_before_);
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
  int status = kRunning;
  while (status == kRunning && !is_interrupted_ && tracing::Instant::now().ns < deadline_ns) {
    status = wait_for(child, std::min(deadline_ns, tracing::Instant::now().ns + kSecond / 2));
    tick();
  }
  if (status == kRunning) {
    kill(-child, SIGTERM);
    bool const was_interrupted = is_interrupted_;
    status = wait_for(child, tracing::Instant::now().ns + 2 * kSecond);
    kill(-child, SIGKILL);
    if (status == kRunning) waitpid(child, &status, 0);
    return {was_interrupted ? End::interrupted : End::out_of_time, false};
  }
  kill(-child, SIGKILL);  // what it left in the background
  return {End::by_itself, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

}  // namespace testlog::cli
