// Screen, Pager: output to a terminal: colour, a pager, text without control characters.
#pragma once

#include <sys/types.h>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace testlog::cli {

struct Screen {
  std::string color = "auto";
  bool no_pager = false;

  /// Returns true if output is to be coloured. The first that is given decides: --color, NO_COLOR, CLICOLOR_FORCE; if
  /// none is given, whether standard output is a terminal.
  bool is_coloured() const;
};

/// Adds --color and --no-pager to a command.
void add_screen(CLI::App& command, Screen& screen);

/// Sends standard output, if it is a terminal, to a pager while it exists: to $PAGER or, if that is not set, to
/// `less -FRX`. The process ends by SIGPIPE if it prints more after the user has quit the pager.
class Pager {
 public:
  explicit Pager(Screen const& screen);
  Pager(Pager const&) = delete;
  Pager& operator=(Pager const&) = delete;
  /// Waits until the user quits the pager.
  ~Pager();

 private:
  pid_t process_ = 0;
};

/// Flushes standard output. If not everything could be written, reports that and returns false.
bool flush_output(char const* command);

/// Escapes the characters of a text that might end a line, change the terminal or hide what is there: control
/// characters, bytes that are not UTF-8, and characters that change the direction of text.
std::string printable(std::string_view text);

/// Returns words as a shell reads them, with spaces between them.
std::string shell_words(std::vector<std::string> const& words);

/// Writes lines to standard error, each as printable(), so that names of tests, files and spans in a message cannot
/// change the terminal. The caller must apply printable() to names that may contain a line end.
void report(std::string_view lines);

}  // namespace testlog::cli
