// Output to a terminal: colour, a pager, text without control characters.
#pragma once

#include <sys/types.h>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace testlog::cli {

struct Screen {
  std::string color = "auto";
  bool no_pager = false;

  /// As --color says, else NO_COLOR, else CLICOLOR_FORCE, else whether standard output is a terminal.
  bool is_coloured() const;
};

/// Adds --color and --no-pager to a command.
void add_screen(CLI::App& command, Screen& screen);

/// While it exists, standard output goes to $PAGER or, if that is not set, to `less -FRX`, if it is a terminal. The process
/// ends by SIGPIPE if it prints more after the user has quit the pager.
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

/// Flushes standard output. False if not all of it could be written, which is reported.
bool flush_output(char const* command);

/// The text with characters escaped that might end a line, change the terminal or hide what is there: control characters,
/// bytes that are not UTF-8, and those that change the direction of text.
std::string printable(std::string_view text);

/// Writes lines to standard error, each as printable(): whatever names of tests, files and spans a message contains, it
/// changes no terminal. Names in which a line might end are made printable() by the caller.
void report(std::string_view lines);

}  // namespace testlog::cli
