#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/inspect/chrome_repair.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using tracing::support::counted;

struct Options {
  std::string file;
  std::string output = "-";
};

void print(std::string const& text) { report("testlog repair: " + text + "\n"); }

void report(tracing::ChromeRepair const& found) {
  std::string text = counted(found.records, "record");
  if (found.left_out > 0) {
    text += "; left out " + counted(found.left_out, "piece") + " of " + counted(found.bytes_left_out, "byte");
  }
  print(text + (found.was_closed ? "" : "; the list was not closed"));
}

int run(Options const& options) {
  std::error_code ignored;
  bool const is_link = std::filesystem::is_symlink(options.output, ignored);
  if (is_same_file(options.file, options.output) && (is_link || !OutputFile::replaces(options.output))) {
    throw UsageError("repair: cannot write to the file being read: " + options.output);
  }
  std::string const name = printable(name_of_input(options.file));
  int const file = open_input(options.file);
  if (file < 0) return print("cannot read " + name + ": " + std::generic_category().message(errno)), kFailed;
  tracing::ChromeRepair found;
  std::unique_ptr<OutputFile> output;  // opened once there is something to write
  std::error_code const read_error = tracing::repair_chrome(file, found, [&](std::string_view text) {
    if (output == nullptr) output = std::make_unique<OutputFile>(options.output);
    output->write(text);
  });
  close(file);
  if (read_error) return print("cannot read " + name + ": " + read_error.message()), kFailed;
  if (!found.is_list) return print(name + " is not a Chrome trace; expected `[` at its beginning"), kFailed;
  if (std::error_code const write_error = output->finish()) {
    std::string const place = options.output == "-" ? "standard output" : printable(options.output);
    return print("cannot write " + place + ": " + write_error.message()), kFailed;
  }
  report(found);
  return kDone;
}

}  // namespace

Command add_repair_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("repair", "Repairs a Chrome trace whose process was killed.");
  app->add_option("FILE", options->file, "The trace; - is standard input")->required();
  app->add_option("-o,--output", options->output,
                  "The repaired trace; - is standard output. May be FILE, which is replaced at the end")
      ->capture_default_str();
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
