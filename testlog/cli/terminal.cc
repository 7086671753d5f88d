#include "testlog/cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "testlog/cli/choices.h"
#include "testlog/summary/run_summary.h"
#include "tracing_core/format/style.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {

bool Screen::is_coloured() const {
  using tracing::ColorChoice;
  auto const choice = color == "always"  ? ColorChoice::always
                      : color == "never" ? ColorChoice::never
                                         : ColorChoice::automatic;
  return tracing::decide_color(choice, STDOUT_FILENO);
}

void add_screen(CLI::App& command, Screen& screen) {
  command.add_option("--color", screen.color, "auto, always, never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_flag("--no-pager", screen.no_pager, "Does not start $PAGER, or less, on a terminal");
}

Pager::Pager(Screen const& screen) {
  if (screen.no_pager || isatty(STDOUT_FILENO) == 0) return;
  char const* const set = secure_getenv("PAGER");
  char const* const program =
      set == nullptr || *set == 0 ? "command -v less >/dev/null && exec less -FRX || exec cat" : set;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    dup2(ends[0], STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", program, nullptr);
    _exit(127);
  }
  if (process_ > 0) {
    dup2(ends[1], STDOUT_FILENO);
    signal(SIGINT, SIG_IGN);  // leave Ctrl-C to the pager, which still has the terminal
  }
  close(ends[0]);
  close(ends[1]);
}

Pager::~Pager() {
  if (process_ <= 0) return;
  std::fflush(stdout);
  close(STDOUT_FILENO);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool flush_output(char const* command) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  report(std::string("testlog ") + command + ": standard output could not be written: " + std::strerror(errno) + "\n");
  return false;
}

std::string printable(std::string_view text) { return tracing::sanitized_in_line(text); }

std::string shell_words(std::vector<std::string> const& words) {
  std::string text;
  for (std::string const& word : words) text.append(text.empty() ? "" : " ").append(summary::shell_word(word));
  return text;
}

void report(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    std::size_t const end = std::min(lines.find('\n'), lines.size());
    text += printable(lines.substr(0, end));
    if (end < lines.size()) text += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace testlog::cli
