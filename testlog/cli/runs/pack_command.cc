#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/runs/run_manifest.h"
#include "testlog/cli/runs/tar_writer.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/profile/gzip.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/decode/used_bytes.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using tracing::recording::Gzip;
using tracing::support::counted;

struct Options {
  Selection selection;
  std::string output = "run.tar";
};

// A recording that is packed.
struct Item {
  std::string path;
  std::string name;  // in the TAR
  tracing::Instant start;
};

// Gives recordings of several folders names of their own.
class ItemNames {
 public:
  std::string add(std::string const& path) {
    std::string const stem = tracing::recording::name_of_recording(path);
    std::string name = stem;
    for (std::size_t i = 2; !taken_.insert(name).second; ++i) name = stem + "." + std::to_string(i);
    return name.append(tracing::recording::kCompressedSuffix);
  }

 private:
  std::set<std::string> taken_;
};

bool is_selected(Selection const& selection, OpenedRecording& file, RecordedTests const& tests) {
  if (!selection.is_narrow()) return true;
  bool const has_test =
      std::any_of(tests.begin(), tests.end(), [&](auto const& test) { return selection.has(test.second); });
  return has_test || (selection.failed && selection.tests.empty() && has_failed_outside_tests(*file.recording));
}

// Returns the recording, compressed and without its unused bytes. If it can no longer be read, returns nothing and sets
// `error` to the reason.
std::optional<std::string> compressed(std::string const& path, std::string& error) {
  auto const source = tracing::recording::open_source(path, error);
  if (source == nullptr) return std::nullopt;
  std::string content;
  Gzip gzip([&content](std::string_view bytes) { content += bytes; });
  bool is_good = true;
  if (!tracing::recording::copy_used(*source, [&](std::string_view bytes) { is_good = is_good && gzip.write(bytes); }))
    return error = "is no recording any more", std::nullopt;
  if (!is_good || !gzip.finish()) return error = "memory ran out", std::nullopt;
  return content;
}

void print(std::string const& text) { report("testlog pack: " + text + "\n"); }

void check(Options const& options, std::vector<std::string> const& files) {
  if (options.output == "-" && isatty(STDOUT_FILENO) == 1)
    throw UsageError("pack: standard output is a terminal; expected -o FILE, or a pipe");
  check_output("pack", files, options.output, true);
}

// Reads the selected recordings and adds them to `manifest`. Skips unreadable recordings, and then sets `status`.
std::vector<Item> read_items(Options const& options, std::vector<std::string> const& files, RunManifest& manifest,
                             Status& status) {
  std::vector<Item> items;
  ItemNames names;
  Progress progress("pack", files.size(), "recordings", false);
  for (std::string const& path : files) {
    progress.step();
    auto const file = open_recording("pack", path);
    if (file == nullptr) {
      status = kFailed;
      continue;
    }
    RecordedTests const tests = recorded_tests_of(*file->recording);
    if (!is_selected(options.selection, *file, tests)) continue;
    items.push_back({path, names.add(path), file->recording->start()});
    manifest.add(*file->recording, tests, items.back().name);
  }
  return items;
}

int run(Options const& options) {
  if (!Gzip::is_available())
    throw UsageError(
        "pack: this program was built without zlib (Debian: zlib1g-dev), so it cannot compress recordings");
  std::vector<std::string> const files = files_of("pack", options.selection.inputs);
  check(options, files);
  RunManifest manifest;
  Status status = kDone;
  std::vector<Item> const items = read_items(options, files, manifest, status);
  if (items.empty()) {
    if (status == kDone) print("no test is selected");
    return kFailed;
  }
  OutputFile output(options.output);
  std::uint64_t bytes = 0;
  TarWriter tar([&](std::string_view text) { output.write(text), bytes += text.size(); });
  tar.add("manifest.json", manifest.json(), items.front().start);
  Progress progress("pack", items.size(), "recordings", options.output == "-");
  for (Item const& item : items) {
    progress.step();
    std::string error;
    auto const content = compressed(item.path, error);
    if (!content) print(printable(item.path) + ": " + error), status = kFailed;
    if (content) tar.add(item.name, *content, item.start);
  }
  tar.finish();
  if (std::error_code const error = output.finish()) {
    std::string const place = options.output == "-" ? "standard output" : printable(options.output);
    return print("cannot write " + place + ": " + error.message()), kFailed;
  }
  print(counted(items.size(), "recording") + " of " + counted(manifest.test_count(), "test") + ", " +
        std::to_string(manifest.failed_count()) + " failed; " + counted(bytes, "byte"));
  return status;
}

constexpr char kFooter[] = R"(
Packs recordings into one file that can leave the machine, such as an artifact of CI. All commands read it as they read a folder,
and its recordings as run.tar/NAME.rec.gz. It is a TAR of manifest.json, which lists the tests with their results, and of the
recordings, compressed by gzip.

Examples:
  testlog pack                                        all recordings of the last ctest, into run.tar
  testlog pack --failed -o failed.tar                 only those in which a test failed or did not end
  testlog pack shard-1.tar shard-2.tar -o all.tar     several packed runs as one
  tar -xOf run.tar manifest.json | jq -r '.tests[] | select(.result == "failed") | .name'

Exit status: 0 the file was written; 1 a file could not be read or written, or nothing is selected; 2 a mistake in the command line.)";

}  // namespace

Command add_pack_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("pack", "Packs the recordings of a run into one file.");
  add_selection(*app, options->selection);
  app->add_option("-o,--output", options->output, "The TAR; - is standard output")->capture_default_str();
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
