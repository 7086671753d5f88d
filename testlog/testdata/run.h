// Declares run(), which runs a program and tells what it printed and how it ended, for tests of whole programs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace testlog::testdata {

struct Outcome {
  int exit_code = -1;  ///< -1 where a signal ended it
  int signal = 0;
  std::string out;  ///< what it wrote to its standard output
  std::string err;  ///< and to its standard error
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Runs the program words[0] with the environment of this one, without the variables that testlog or GoogleTest read, and
/// `variables`. Both outputs are pipes.
Outcome run(std::vector<std::string> const& words, Variables const& variables = {});

/// run() of the program `testlog_scenarios` with the tests that `filter` chooses, without times.
Outcome run_scenarios(std::string const& filter, Variables const& variables = {}, std::vector<std::string> const& more = {});

/// `variables` and those that give sanitizers further options.
Variables with_sanitizer_options(Variables variables, std::string_view options);

/// run_scenarios() of tests that end by a signal: sanitizers are told to leave signals and their stack alone.
Outcome run_dying(std::string const& filter, Variables const& variables = {}, std::vector<std::string> const& more = {});

/// run_scenarios() with a pipe as standard error whose reader has gone away.
Outcome run_unread_scenarios(std::string const& filter, Variables const& variables = {});

/// What run_scenarios() prints where its standard error is a terminal.
std::string run_on_terminal(std::string const& filter, Variables const& variables = {});

/// run() of `testlog_own_main`, whose tests pass, all of them, without times.
Outcome run_own_main(Variables const& variables = {});

/// Runs the scenarios with a socket as standard error that keeps apart what each write(2) wrote.
std::vector<std::string> writes_of_scenarios(std::string const& filter, Variables const& variables);

/// The content of a file; empty where there is none.
std::string content_of(std::string const& path);

/// How often `part` stands in `text`.
int count(std::string_view text, std::string_view part);

}  // namespace testlog::testdata
