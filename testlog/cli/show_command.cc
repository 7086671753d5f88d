#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/recordings.h"

namespace testlog::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string filter = "trace";
  tracing::FormatKind format = tracing::FormatKind::full;
  std::string time = "utc";
  std::string color = "auto";
};

tracing::FormatOptions format_of(Options const& options) {
  tracing::FormatOptions format;
  format.kind = options.format;
  format.ansi = options.color == "always" || (options.color == "auto" && isatty(STDOUT_FILENO) == 1);
  format.value_sanitization = true;
  format.timer = options.time == "utc" ? tracing::utc_timer() : options.time == "local" ? tracing::local_timer() : nullptr;
  return format;
}

void print(std::string_view line) { std::fwrite(line.data(), 1, line.size(), stdout); }

int run(Options const& options) {
  (void)filter_of("show", options.filter);
  Status status = kDone;
  std::vector<std::unique_ptr<RecordingFile>> files;
  for (std::string const& path : options.files) {
    auto file = open_recording("show", path);
    if (file == nullptr) {
      status = kFailed;
    } else {
      files.push_back(std::move(file));
    }
  }
  print_lines("show", files, options.filter, format_of(options), print);
  bool const is_written = std::fflush(stdout) == 0;
  for (auto const& file : files) print_notes("show", *file);
  return is_written ? status : kFailed;
}

}  // namespace

Command add_show_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("show", "Prints recordings (TRACE_RECORD) as they would have been printed live.");
  app->add_option("RECORDING", options->files, "The files; several are printed as one, in the order of time")->required();
  app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER")->capture_default_str();
  std::map<std::string, tracing::FormatKind> const formats{{"full", tracing::FormatKind::full},
                                                           {"compact", tracing::FormatKind::compact},
                                                           {"pretty", tracing::FormatKind::pretty},
                                                           {"json", tracing::FormatKind::json}};
  app->add_option("--format", options->format, "How records look: full, compact, pretty, json")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->default_str("full");
  app->add_option("--time", options->time, "The time at the start of each line: utc, local, none")
      ->check(CLI::IsMember({"utc", "local", "none"}).description(""))
      ->capture_default_str();
  app->add_option("--color", options->color, "auto, always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->capture_default_str();
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
