#include "testlog/testdata/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

extern char** environ;

namespace testlog::testdata {
namespace {

bool is_read_by_us(std::string_view variable) {
  for (std::string_view const prefix : {"TRACE", "GTEST_", "NO_COLOR", "CLICOLOR", "CI=", "SCENARIO_"}) {
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

void read_both(int out, int err, Outcome& outcome) {
  std::array<pollfd, 2> sources{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  int open = 2;
  while (open > 0 && poll(sources.data(), sources.size(), -1) > 0) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].revents == 0) continue;
      char bytes[1 << 16];
      ssize_t const size = read(sources[i].fd, bytes, sizeof(bytes));
      if (size > 0) {
        (i == 0 ? outcome.out : outcome.err).append(bytes, static_cast<std::size_t>(size));
      } else if (size == 0 || errno != EINTR) {
        sources[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

Outcome run(std::string const& program, std::vector<std::string> const& arguments, Variables const& variables) {
  std::vector<std::string> environment;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!is_read_by_us(*at)) environment.emplace_back(*at);
  }
  for (auto const& [name, value] : variables) environment.push_back(name + "=" + value);
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());

  int out[2], err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  pid_t child = 0;
  int const failed = posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  Outcome outcome;
  EXPECT_EQ(failed, 0) << program << " does not start";
  if (failed == 0) {
    read_both(out[0], err[0], outcome);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  }
  close(out[0]);
  close(err[0]);
  return outcome;
}

Outcome run_scenarios(std::string const& filter, Variables const& variables, std::vector<std::string> const& more) {
  Variables all{{"TRACE_TIME", "none"}};
  for (auto const& variable : variables) {
    if (variable.first == "TRACE_TIME") all.clear();
  }
  all.insert(all.end(), variables.begin(), variables.end());
  std::vector<std::string> arguments{"--gtest_filter=" + filter, "--gtest_print_time=0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(TESTLOG_SCENARIOS, arguments, all);
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace testlog::testdata
