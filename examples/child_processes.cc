// Programs that a program starts: child_environment() makes their spans children of the span that starts them.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <tracing_core/environment/child_environment.h>
#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Our own environment, with the variables for a child in place of those that we got.
std::vector<std::string> environment_for_child() {
  std::vector<std::string> all;
  auto const added = tracing::child_environment();
  for (char** one = environ; *one != nullptr; ++one) {
    bool is_replaced = false;
    for (auto const& [name, value] : added) is_replaced |= std::string_view(*one).starts_with(name + "=");
    if (!is_replaced) all.emplace_back(*one);
  }
  for (auto const& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

// Runs a program to its end. Returns its exit status.
int run(std::vector<std::string> command) {
  // All of this allocates, so it is done before fork().
  std::vector<std::string> environment = environment_for_child();
  std::vector<char*> const arguments = pointers_to(command), variables = pointers_to(environment);
  pid_t const child = fork();
  if (child == 0) {
    execvpe(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "%s: %s\n", command[0].c_str(), std::strerror(errno));
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  auto const guard = tracing::init_from_env({.filter = "off"});
  if (argc > 1 && std::string_view(argv[1]) == "convert") {
    TRACE_SPAN(info, "convert", tracing::kv("format", "html"));
    TRACE_INFO("converted {} pages", 12);
    return 0;
  }
  // The program takes the path of a Python program, and where that writes its span.
  if (argc != 3) return std::fprintf(stderr, "usage: child_processes CHILD.PY SPANS.JSONL\n"), 2;
  TRACE_SPAN(info, "build", tracing::kv("target", "docs"));
  {
    TRACE_SPAN(info, "pages");
    if (int const status = run({argv[0], "convert"})) return status;
  }
  return run({"python3", argv[1], argv[2]});
}
