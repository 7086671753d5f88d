// The commands that describe the program itself, made from its options: `testlog completion` and `testlog man`.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/choices.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/terminal.h"

namespace testlog::cli {
namespace {

std::vector<CLI::App const*> commands_of(CLI::App const& program) {
  return program.get_subcommands([](CLI::App const*) { return true; });
}

// Returns the names of an option: `-f --follow`.
std::string names_of(CLI::Option const& option, std::string_view between) {
  std::string names;
  auto const add = [&](std::string const& name) { names.append(names.empty() ? "" : between).append(name); };
  for (std::string const& name : option.get_snames()) add("-" + name);
  for (std::string const& name : option.get_lnames()) add("--" + name);
  return names;
}

std::string options_of(CLI::App const& command) {
  std::string words;
  for (CLI::Option const* const option : command.get_options()) {
    std::string const names = names_of(*option, " ");
    if (!names.empty()) words.append(words.empty() ? "" : " ").append(names);
  }
  return words;
}

// ---- completion ----

std::string completion_of(CLI::App const& program, bool is_zsh) {
  std::string commands, cases;
  for (CLI::App const* const command : commands_of(program)) {
    commands += command->get_name() + " ";
    cases += "    " + command->get_name() + ") options='" + options_of(*command) + "' ;;\n";
  }
  std::string const head = is_zsh ? "#compdef testlog\nautoload -U +X bashcompinit && bashcompinit\n" : "";
  // In zsh, the first completion calls this file as the function `_testlog`, and expects that to complete.
  std::string const tail =
      is_zsh ? "[[ ${funcstack[1]} != _testlog ]] || _bash_complete -o filenames -F _testlog_words\n" : "";
  return head +
         "_testlog_words() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} options=''\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         commands + options_of(program) +
         "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _testlog_words testlog\n" +
         tail;
}

// ---- the manual page ----

// Escapes text for troff: its special characters, and lines that begin like a request.
std::string troff(std::string_view text) {
  std::string out;
  for (char const c : text) {
    bool const begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string option_page(CLI::Option const& option) {
  std::string const names = names_of(option, ", ");
  std::string const type = option.get_type_size() == 0 || names.empty() ? "" : " " + option.get_type_name();
  std::string const value = option.get_default_str().empty() ? "" : " (" + option.get_default_str() + ")";
  return ".TP\n.B " + troff((names.empty() ? option.get_name() : names) + type) + "\n" +
         troff(option.get_description() + value) + "\n";
}

std::string command_page(CLI::App const& command) {
  std::string page = ".SS testlog " + command.get_name() + "\n" + troff(command.get_description()) + "\n";
  for (CLI::Option const* const option : command.get_options()) page += option_page(*option);
  std::string const footer = command.get_footer();
  if (!footer.empty()) page += ".PP\n.nf\n" + troff(footer) + "\n.fi\n";
  return page;
}

std::string manual_of(CLI::App const& program) {
  std::string page = ".TH TESTLOG 1 \"\" \"testlog " TESTLOG_VERSION "\"\n.SH NAME\ntestlog \\- " +
                     troff(program.get_description()) +
                     "\n.SH SYNOPSIS\n.B testlog\nCOMMAND [OPTION...] [FILE...]\n.SH COMMANDS\n";
  for (CLI::App const* const command : commands_of(program)) page += command_page(*command);
  return page + ".SH EXIT STATUS\n0: done. 1: failed, or nothing was found. 2: a mistake in the command line.\n";
}

int print(char const* command, std::string const& text) {
  std::fputs(text.c_str(), stdout);
  return flush_output(command) ? kDone : kFailed;
}

}  // namespace

Command add_completion_command(CLI::App& program) {
  auto const shell = std::make_shared<std::string>();
  CLI::App* const app = program.add_subcommand("completion", "Prints the completion of this command for a shell.");
  app->add_option("SHELL", *shell, "bash or zsh")->required()->check(one_of({"bash", "zsh"}));
  app->footer("\nExamples:\n  source <(testlog completion bash)\n  testlog completion zsh > ~/.zfunc/_testlog");
  return {app, [&program, shell] { return print("completion", completion_of(program, *shell == "zsh")); }};
}

Command add_man_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("man", "Prints the manual page: testlog man | man -l -");
  return {app, [&program] { return print("man", manual_of(program)); }};
}

}  // namespace testlog::cli
