#include "testlog/testdata/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

extern char** environ;

namespace testlog::testdata {
namespace {

bool is_read_by_us(std::string_view variable) {
  for (std::string_view const prefix :
       {"TRACE", "GTEST_", "NO_COLOR", "CLICOLOR", "CI=", "CI_", "SCENARIO_", "GITHUB_", "GITLAB_CI", "TF_BUILD",
        "BUILDKITE", "TEAMCITY_", "JENKINS_URL", "TEST_TARGET", "TEST_UNDECLARED_OUTPUTS_DIR", "OTEL_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(Variables const& variables) {
  std::vector<std::string> environment;
  for (char** at = environ; *at != nullptr; ++at) {
    std::string_view const name = std::string_view(*at).substr(0, std::string_view(*at).find('='));
    bool const given = std::any_of(variables.begin(), variables.end(),
                                   [name](auto const& variable) { return variable.first == name; });
    if (!given && !is_read_by_us(*at)) environment.emplace_back(*at);
  }
  for (auto const& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

// Starts the program with these standard outputs, which are closed in this process; 0 on failure.
pid_t start(std::vector<std::string> words, std::vector<std::string> environment, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = 0;
  int const failed =
      posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  EXPECT_EQ(failed, 0) << words[0] << " did not start";
  posix_spawn_file_actions_destroy(&actions);
  close(out);
  if (err != out) close(err);
  return failed == 0 ? child : 0;
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::vector<std::string> scenario_words(std::string const& filter, std::vector<std::string> const& more) {
  std::vector<std::string> words{TESTLOG_SCENARIOS, "--gtest_filter=" + filter, "--gtest_print_time=0"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Adds a variable unless it is given.
Variables with(Variables all, char const* name, char const* value) {
  bool const given =
      std::any_of(all.begin(), all.end(), [name](auto const& variable) { return variable.first == name; });
  if (!given) all.emplace_back(name, value);
  return all;
}

Variables without_times(Variables const& variables) { return with(variables, "TRACE_TIME", "none"); }

// Hides addr2line, which takes a while and prints where this tree is.
Variables without_lines(Variables const& variables) { return with(variables, "PATH", "/nowhere"); }

// Sends the signals of the steps whose texts have come.
class Stepping {
 public:
  Stepping(pid_t child, std::vector<Step> const& steps) : child_(child), steps_(steps) {}

  void look_at(std::string const& text) {
    for (; next_ < steps_.size(); ++next_) {
      std::size_t const found = text.find(steps_[next_].text, at_);
      if (found == text.npos) return;
      at_ = found + steps_[next_].text.size();
      kill(child_, steps_[next_].signal);
    }
  }

 private:
  pid_t const child_;
  std::vector<Step> const& steps_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
};

// How long a child may take. Less than CTest's limit for the whole program, so that the failure names the child.
constexpr std::chrono::minutes kTimeOfChild{5};

// Reads both outputs; ignores a negative descriptor. Ends a child that hangs: by SIGTERM, so that testlog reports where
// the threads are, then by SIGKILL. Returns false if the child hung.
bool read_both(pid_t child, int out, int err, Outcome& outcome, Stepping& stepping) {
  using Clock = std::chrono::steady_clock;
  std::array<pollfd, 2> sources{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  int open = (out >= 0) + (err >= 0);
  Clock::time_point limit = Clock::now() + kTimeOfChild;
  int sent = 0;
  while (open > 0) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (left <= 0) {
      if (sent == SIGKILL) break;  // a child of the child has the outputs
      kill(child, sent = sent == 0 ? SIGTERM : SIGKILL);
      limit = Clock::now() + std::chrono::seconds(20);
      continue;
    }
    if (poll(sources.data(), sources.size(), static_cast<int>(left)) <= 0) continue;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].revents == 0) continue;
      char bytes[1 << 16];
      ssize_t const size = read(sources[i].fd, bytes, sizeof(bytes));
      if (size > 0) {
        (i == 0 ? outcome.out : outcome.err).append(bytes, static_cast<std::size_t>(size));
        stepping.look_at(outcome.err);
      } else if (size == 0 || errno != EINTR) {
        sources[i].fd = -1;
        --open;
      }
    }
  }
  return sent == 0;
}

Outcome run_reading(bool read_err, std::vector<std::string> const& words, Variables const& variables,
                    std::vector<Step> const& steps = {}) {
  int out[2], err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
  if (!read_err) close(std::exchange(err[0], -1));
  Outcome outcome;
  if (pid_t const child = start(words, environment_with(variables), out[1], err[1])) {
    Stepping stepping(child, steps);
    bool const ended = read_both(child, out[0], err[0], outcome, stepping);
    EXPECT_TRUE(ended) << testing::PrintToString(words) << " hung after it had written to its outputs:\n"
                       << outcome.out << outcome.err;
    int const status = status_of(child);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  }
  close(out[0]);
  if (read_err) close(err[0]);
  return outcome;
}

}  // namespace

Outcome run(std::vector<std::string> const& words, Variables const& variables, std::vector<Step> const& steps) {
  return run_reading(true, words, variables, steps);
}

Outcome run_scenarios(std::string const& filter, Variables const& variables, std::vector<std::string> const& more) {
  return run(scenario_words(filter, more), without_times(variables));
}

Variables with_sanitizer_options(Variables variables, std::string_view options) {
  for (char const* const name : {"ASAN_OPTIONS", "TSAN_OPTIONS"}) {
    char const* const before = std::getenv(name);
    variables.emplace_back(name, (before == nullptr ? std::string() : std::string(before) + ":").append(options));
  }
  return variables;
}

Outcome run_with_signals(std::string const& filter, std::vector<Step> const& steps, Variables const& variables) {
  Variables all = without_lines(variables);
  all.emplace_back("SCENARIO_ALARM", "60");
  return run(scenario_words(filter, {}), all, steps);
}

// Sanitizers end the program with a report and an exit status of their own if one of these options is missing.
Outcome run_dying(std::string const& filter, Variables const& variables, std::vector<std::string> const& more) {
  constexpr char kHandleNothing[] =
      "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:use_sigaltstack=0";
  return run_scenarios(filter, with_sanitizer_options(without_lines(variables), kHandleNothing), more);
}

Outcome run_unread_scenarios(std::string const& filter, Variables const& variables) {
  return run_reading(false, scenario_words(filter, {}), without_times(variables));
}

std::string run_on_terminal(std::string const& filter, Variables const& variables) {
  std::string text;
  int const terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  char name[128];
  EXPECT_EQ(grantpt(terminal) | unlockpt(terminal) | ptsname_r(terminal, name, sizeof(name)), 0);
  int const other_end = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  int const nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  pid_t const child = start(scenario_words(filter, {}), environment_with(without_times(variables)), nowhere, other_end);
  char bytes[4096];
  // read() fails when the other end is closed.
  for (ssize_t size = 0; child != 0 && (size = read(terminal, bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<std::size_t>(size));
  if (child != 0) status_of(child);
  close(terminal);
  return text;
}

Outcome run_own_main(Variables const& variables) {
  return run({TESTLOG_OWN_MAIN, "--gtest_print_time=0"}, without_times(variables));
}

std::vector<std::string> writes_of_scenarios(std::string const& filter, Variables const& variables) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  std::vector<std::string> writes;
  int const nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  pid_t const child = start(scenario_words(filter, {}), environment_with(without_times(variables)), nowhere, ends[1]);
  std::vector<char> bytes(1 << 18);
  for (ssize_t size = 0; child != 0 && (size = read(ends[0], bytes.data(), bytes.size())) > 0;) {
    writes.emplace_back(bytes.data(), static_cast<std::size_t>(size));
  }
  if (child != 0) status_of(child);
  close(ends[0]);
  return writes;
}

std::string content_of(std::string const& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

std::string without_tree(std::string text) {
  for (std::string_view const before : {"    at ", ": ", "FAIL "}) {
    for (std::size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
      std::size_t const path = at + before.size();
      std::string_view const word = std::string_view(text).substr(path, text.find_first_of(" \n", path) - path);
      if (std::size_t const tree = word.find("testlog/testdata/"); tree != word.npos) text.erase(path, tree);
    }
  }
  std::string const program = TESTLOG_SCENARIOS;
  for (std::size_t at = 0; !program.empty() && (at = text.find(program)) != text.npos;)
    text.replace(at, program.size(), program.substr(program.rfind('/') + 1));
  return text;
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace testlog::testdata
