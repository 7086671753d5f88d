#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/runs/packed_run.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  bool json = false;
};

// A run and its numbers.
struct Row {
  RecordedRun run;
  std::size_t tests = 0, failed = 0, flaky = 0, recordings = 0;
  std::uintmax_t bytes = 0;  // of the recordings that are left
};

void count_tests(std::vector<TestOfRun> const& tests, Row& row) {
  for (TestOfRun const& test : tests) {
    row.tests += test.test_count();
    row.failed += test.failed_count();
    row.flaky += test.flaky_count();
  }
}

Row row_of_packed(std::string const& path) {
  PackedRun packed = read_packed_run("runs", {path});
  return {.run = std::move(packed.run),
          .tests = packed.summary.test_count,
          .failed = packed.summary.failed_count,
          .flaky = packed.summary.flaky_count,
          .recordings = packed.recordings,
          .bytes = bytes_on_disk(path)};
}

// Counts the bytes that the recordings take on the disk: they have holes.
void count_recordings(fs::path const& folder, std::vector<Row>& rows) {
  std::error_code error;
  for (std::string const& file :
       tracing::recording::recordings_in(folder, tracing::recording::Folders::only_this, error)) {
    tracing::Instant const start = start_of(file).value_or(time_written(file));
    auto const row = std::find_if(rows.begin(), rows.end(), [&](Row const& one) { return one.run.has(start); });
    if (row == rows.end()) continue;
    ++row->recordings;
    row->bytes += bytes_on_disk(file);
  }
}

std::vector<Row> rows_of(std::vector<std::string> const& folders) {
  std::vector<RecordedRun> runs;
  std::vector<Row> rows;
  for (std::string const& folder : folders) {
    if (tracing::recording::is_tar(folder)) {
      rows.push_back(row_of_packed(folder));
      continue;
    }
    if (std::error_code error; !fs::is_directory(folder, error))
      throw std::runtime_error("runs: " + printable(folder) + " is neither a folder nor a TAR");
    auto found = find_runs(folder);
    runs.insert(runs.end(), found.begin(), found.end());
  }
  if (folders.empty()) runs = find_runs();
  std::map<fs::path, std::vector<Row>> by_folder;
  for (RecordedRun& run : runs) by_folder[run.folder].push_back({.run = std::move(run)});
  for (auto& [folder, own] : by_folder) {
    Attempts const attempts(folder);
    for (Row& row : own) count_tests(attempts.tests_of(row.run), row);
    count_recordings(folder, own);
    rows.insert(rows.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  std::stable_sort(rows.begin(), rows.end(), [](Row const& a, Row const& b) { return a.run.last > b.run.last; });
  return rows;
}

std::string text_of_bytes(std::uintmax_t bytes) {
  if (bytes < 10'240) return fmt::format("{} B", bytes);
  double const kib = static_cast<double>(bytes) / 1024;
  if (kib < 10'240) return fmt::format("{:.0f} KiB", kib);
  return fmt::format("{:.0f} MiB", kib / 1024);
}

void print_text(std::vector<Row> const& rows) {
  fmt::print("run                   began                tests  failed  flaky     bytes  recordings\n");
  for (Row const& row : rows) {
    std::time_t const began = static_cast<std::time_t>(row.run.began.ns / 1'000'000'000);
    fmt::print("{:<20}  {:%Y-%m-%d %H:%M:%S}  {:>5}  {:>6}  {:>5}  {:>8}  {}\n",
               row.run.ids.empty() ? "unknown" : printable(row.run.ids.front()), fmt::localtime(began), row.tests,
               row.failed, row.flaky, text_of_bytes(row.bytes), printable(row.run.folder.native()));
  }
}

void print_json(std::vector<Row> const& rows) {
  for (Row const& row : rows) {
    tracing::InlineTextBuffer<256> id, folder;
    tracing::formatting::append_json_text(id, row.run.ids.empty() ? "" : row.run.ids.front());
    tracing::formatting::append_json_text(folder, row.run.folder.native());
    fmt::print(
        "{{\"run\":{},\"began_ns\":{},\"last_ns\":{},\"tests\":{},\"failed\":{},\"flaky\":{},\"recordings\":{},"
        "\"bytes\":{},\"folder\":{}}}\n",
        id.view(), row.run.began.ns, row.run.last.ns, row.tests, row.failed, row.flaky, row.recordings, row.bytes,
        folder.view());
  }
}

int run(Options const& options) {
  std::vector<Row> const rows = rows_of(options.folders);
  if (rows.empty()) {
    report("testlog runs: " + std::string(kNoRun) + "\n");
    return kFailed;
  }
  options.json ? print_json(rows) : print_text(rows);
  return flush_output("runs") ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
The last run comes first. A run is all tests of one ctest; ctests that overlap in time, and ctests of one test each that an
IDE starts in a row, count as one run. A test counts as failed if its last attempt failed or did not end, and as flaky if it
passed after an attempt of the same run had failed. The number of bytes is that of the recordings that are left. Of a packed run,
only the tests whose recordings are in the TAR are known.

Examples:
  testlog runs
  testlog show --run 4711                             of the run whose id begins with 4711
  testlog runs --json build/Testing/Temporary/testlog
  testlog runs run.tar                                that testlog pack made

Exit status: 0 runs were printed; 1 there are none; 2 a mistake in the command line.)";

}  // namespace

Command add_runs_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("runs", "Lists the runs of tests that are recorded.");
  app->add_option("FOLDER", options->folders,
                  "Folders or TARs of recordings; by default those of the build folders in and below this folder");
  app->add_flag("--json", options->json, "A JSON object per run, each on a line of its own");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
