#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "tracing_core/inspect/chrome_repair.h"

namespace testlog::cli {
namespace {

struct Options {
  std::string file;
  std::string output = "-";
};

void complain(std::string const& text) { std::fprintf(stderr, "testlog repair: %s\n", text.c_str()); }

bool is_same_file(std::string const& a, std::string const& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::string counted(std::uint64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

void report(tracing::ChromeRepair const& found) {
  std::string text = counted(found.records, "record");
  if (found.was_whole()) return complain(text + ": it was whole");
  if (found.was_empty) return complain(text + ": it was empty");
  if (found.left_out > 0) {
    text += "; left out " + counted(found.left_out, "piece") + " of " + counted(found.bytes_left_out, "byte");
  }
  if (found.put_right > 0) text += "; commas and brackets put right: " + std::to_string(found.put_right);
  complain(text + (found.was_closed ? "" : "; it was not closed"));
}

int run(Options const& options) {
  bool const is_input = options.file == "-";
  if (is_same_file(is_input ? "/dev/stdin" : options.file, options.output) && !OutputFile::replaces(options.output)) {
    throw UsageError("repair cannot write to the file that it reads: " + options.output);
  }
  std::string const name = is_input ? "standard input" : options.file;
  int const file = is_input ? dup(STDIN_FILENO) : open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return complain("cannot read " + name + ": " + std::generic_category().message(errno)), kFailed;
  tracing::ChromeRepair found;
  std::unique_ptr<OutputFile> output;  // made when there is something to write
  std::error_code const not_read = tracing::repair_chrome(file, found, [&](std::string_view text) {
    if (output == nullptr) output = std::make_unique<OutputFile>(options.output);
    output->write(text);
  });
  close(file);
  if (not_read) return complain("cannot read " + name + ": " + not_read.message()), kFailed;
  if (!found.is_list) return complain(name + " is no Chrome trace: those begin with `[`"), kFailed;
  if (std::error_code const not_written = output->finish()) {
    std::string const place = options.output == "-" ? "standard output" : options.output;
    return complain("cannot write " + place + ": " + not_written.message()), kFailed;
  }
  report(found);
  return kDone;
}

}  // namespace

Command add_repair_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("repair", "Makes a Chrome trace whole whose process was killed.");
  app->add_option("FILE", options->file, "The trace; - is standard input")->required();
  app->add_option("-o,--output", options->output,
                  "Where the whole trace goes; - is standard output. May be FILE, which is replaced at the end")
      ->capture_default_str();
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
