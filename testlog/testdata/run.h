// run(): runs a program and returns its output and exit status, for tests of complete programs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace testlog::testdata {

struct Outcome {
  int exit_code = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string out;  ///< what it wrote to its standard output
  std::string err;  ///< and to its standard error
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A signal for a program, sent once it has written `text` to its standard error after that of the step before.
struct Step {
  std::string text;
  int signal = 0;
};

/// Runs the program words[0] with `variables` added to the environment of this process, less the variables that testlog
/// and GoogleTest read. Both outputs are pipes.
Outcome run(std::vector<std::string> const& words, Variables const& variables = {},
            std::vector<Step> const& steps = {});

/// Calls run() for the program `testlog_scenarios` with the tests that `filter` selects, without times.
Outcome run_scenarios(std::string const& filter, Variables const& variables = {},
                      std::vector<std::string> const& more = {});

/// Calls run_scenarios() for tests that do not end by themselves. They end after a minute. Prints times; stacks have no
/// lines of the source unless PATH is given.
Outcome run_with_signals(std::string const& filter, std::vector<Step> const& steps, Variables const& variables = {});

/// Returns `variables` with further options for sanitizers.
Variables with_sanitizer_options(Variables variables, std::string_view options);

/// Calls run_scenarios() for tests that end by a signal: sanitizers install no handlers. Stacks are as in
/// run_with_signals().
Outcome run_dying(std::string const& filter, Variables const& variables = {},
                  std::vector<std::string> const& more = {});

/// Calls run_scenarios() with a pipe as standard error whose other end is closed.
Outcome run_unread_scenarios(std::string const& filter, Variables const& variables = {});

/// Returns what run_scenarios() prints if its standard error is a terminal.
std::string run_on_terminal(std::string const& filter, Variables const& variables = {});

/// Calls run() for `testlog_own_main`, all of whose tests pass, without times.
Outcome run_own_main(Variables const& variables = {});

/// Returns the text of each write(2) of the scenarios to their standard error.
std::vector<std::string> writes_of_scenarios(std::string const& filter, Variables const& variables);

/// Returns the content of a file; empty if the file is missing.
std::string content_of(std::string const& path);

/// Returns the text with paths of sources relative to the root of the tree, and without the folder of the scenarios.
std::string without_tree(std::string text);

/// Returns how often `text` contains `part`.
int count(std::string_view text, std::string_view part);

}  // namespace testlog::testdata
