#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/ci/junit.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/directive_notes.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/otlp_files.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/process_numbers.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/run_marks.h"
#include "testlog/cli/runs/packed_run.h"
#include "testlog/cli/runs/read_summary.h"
#include "testlog/cli/terminal.h"
#include "testlog/cli/timeline/perfetto_archive.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome/chrome_trace.h"
#include "tracing_core/export/flame/flame_lines.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/export/xplane/profile_folder.h"
#include "tracing_core/export/xplane/xplane.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/profile/gzip.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/support/file_name.h"

namespace testlog::cli {
namespace {

using tracing::recording::Entry;
using tracing::recording::LostEntries;
using tracing::support::file_name_of;
using Files = std::vector<std::unique_ptr<OpenedRecording>>;

struct Options {
  Inputs inputs;
  std::string filter = "trace";
  // At most one of these options is given; its value is the output.
  CLI::Option const* perfetto = nullptr;
  CLI::Option const* xplane = nullptr;
  CLI::Option const* chrome = nullptr;
  CLI::Option const* folded = nullptr;
  CLI::Option const* json = nullptr;
  CLI::Option const* junit = nullptr;
  CLI::Option const* filter_option = nullptr;
  std::size_t top = ArchiveOptions::kDefaultTop;
  CLI::Option const* top_option = nullptr;
  // One of these or both are given in place of one of the options above.
  CLI::Option const* otlp = nullptr;
  CLI::Option const* otlp_logs = nullptr;
  CLI::Option const* otlp_http = nullptr;  // its value is a URL
  CLI::Option const* otlp_events = nullptr;
  std::string otlp_events_are = "log";  // or "span"
};

// The file that recordings are converted to, and its limit.
struct Output {
  Output(std::string const& path, Files const& files,
         tracing::support::FileName name = tracing::support::FileName::given)
      : file(path, name) {
    for (auto const& one : files) limit.add(*one);
  }
  void write(std::string_view text) {
    limit.spend(text.size());
    file.write(text);
  }

  OutputFile file;
  OutputLimit limit;
};

// Returns the test's name, `Suite.Name`, if the recording has exactly one test and the test has a name; otherwise the
// file's name without its extension.
std::string name_of(OpenedRecording const& file, RecordedTests const& tests) {
  bool const is_one = tests.size() == 1 && !tests.begin()->second.name.empty();
  return is_one ? tests.begin()->second.name : tracing::recording::name_of_recording(file.path);
}

tracing::recording::TraceSource source_of(OpenedRecording& file, RecordedTests const& tests, Options const& options,
                                          ProcessNumbers& processes, Output& output) {
  tracing::recording::TraceSource source(*file.recording);
  source.pid = processes.add(source.pid);
  source.process = name_of(file, tests);
  source.filter = filter_of("export", options.filter);
  source.each = [&file, &output](Entry const& entry) {
    output.limit.check(file);
    file.learn(entry);
  };
  source.section_of = tracing::recording::test_of;
  return source;
}

void write_perfetto(Files const& files, Options const& options, Output& output) {
  ProcessNumbers processes;
  for (auto const& file : files) {
    RecordedTests const tests = recorded_tests_of(*file->recording);
    tracing::recording::write_perfetto(source_of(*file, tests, options, processes, output),
                                       [&output](std::string_view packets) { output.write(packets); });
  }
}

tracing::Instant start_of(Files const& files) {
  tracing::Instant start = files.front()->recording->start();
  for (auto const& file : files) start = std::min(start, file->recording->start());
  return start;
}

int fail_to_write(std::string const& path, std::error_code const& error) {
  report("testlog export: cannot write " + (path == "-" ? "standard output" : printable(path)) + ": " +
         error.message() + "\n");
  return kFailed;
}

// Returns a name for a host whose path is not taken yet. If the host's own name is taken, adds the number of the
// process; if that name is taken, too, also adds a count.
std::string new_host(std::set<std::string>& in_paths, std::string const& name, std::uint64_t process) {
  std::string const with_process = name + "." + std::to_string(process);
  std::string host = name;
  for (int count = 1; !in_paths.insert(tracing::recording::profile_name_of(file_name_of(host))).second; ++count)
    host = count == 1 ? with_process : with_process + "." + std::to_string(count);
  return host;
}

// Writes a file for each recording, in a new run in the folder.
int write_xplanes(Files const& files, Options const& options, std::string const& folder) {
  tracing::Instant const start = start_of(files);
  std::string const run = tracing::recording::profile_run_of(start);
  std::set<std::string> hosts;
  ProcessNumbers processes;
  for (auto const& file : files) {
    RecordedTests const tests = recorded_tests_of(*file->recording);
    std::string const host = new_host(hosts, name_of(*file, tests), file->recording->process());
    std::string const path = tracing::recording::profile_path(folder, run, file_name_of(host), ".xplane.pb");
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (error) return fail_to_write(path, error);
    Output output(path, files, tracing::support::FileName::formed);
    tracing::recording::write_xplane(source_of(*file, tests, options, processes, output),
                                     {.hostname = host, .start = start},
                                     [&output](std::string_view bytes) { output.write(bytes); });
    error = output.file.finish();
    if (error) return fail_to_write(path, error);
  }
  return kDone;
}

// Writes a Chrome trace, which is compressed if the output's name says so.
void write_chrome(Files const& files, Options const& options, Output& output, bool is_compressed) {
  tracing::recording::ChromeTraceOptions chrome{.start = tracing::recording::first_time_of(*files.front()->recording)};
  for (auto const& file : files)
    chrome.start = std::min(chrome.start, tracing::recording::first_time_of(*file->recording));
  std::function<void(std::string_view)> out = [&output](std::string_view text) { output.write(text); };
  std::optional<tracing::recording::Gzip> gzip;
  if (is_compressed) {
    gzip.emplace(std::exchange(out, [&gzip, &output](std::string_view text) {
      output.limit.spend(text.size());
      (void)gzip->write(text);
    }));
  }
  ProcessNumbers processes;
  for (auto const& file : files) {
    chrome.opens_list = file == files.front();
    chrome.closes_list = file == files.back();
    RecordedTests const tests = recorded_tests_of(*file->recording);
    tracing::recording::write_chrome(source_of(*file, tests, options, processes, output), chrome, out);
  }
  if (gzip && !gzip->finish()) throw std::bad_alloc();
}

// Returns, for each test, the frame with which its stacks begin: the test's name. If the recording has tests, stacks
// outside of tests (tag 0) have such a frame, too.
std::map<std::uint32_t, std::string> roots_of(RecordedTests const& tests) {
  std::map<std::uint32_t, std::string> roots;
  if (!tests.empty()) roots[0] = "outside_tests;";
  for (auto const& [tag, test] : tests) {
    std::string& root = roots[tag] = test.name + ';';
    std::replace(root.begin(), root.end() - 1, ';', ':');  // `;` separates frames, and line ends separate stacks
    std::replace_if(
        root.begin(), root.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  return roots;
}

void write_folded(OpenedRecording& file, Options const& options, Output& output) {
  std::map<std::uint32_t, std::string> const roots = roots_of(recorded_tests_of(*file.recording));
  std::string_view root;  // of the record that is replayed
  auto sink = tracing::make_sink([&](tracing::Level, std::string_view lines) {
    output.write(root);
    output.write(lines);
  });
  tracing::FlameOptions flame{.empty_samples = false};
  if (!roots.empty()) flame.buffered_bytes = 0;  // write each line at once, while `root` is its root
  auto const lines =
      tracing::internal::FoldedLines::make(tracing::to_sink(std::move(sink)), flame, nullptr, file.recording->start());
  auto const registry = tracing::RegistryBuilder()
                            .with(std::make_unique<tracing::FlameLayer>(lines), filter_of("export", options.filter))
                            .build();
  auto const each = [&](Entry const& entry) {
    auto const found = roots.find(entry.tag);
    if (found != roots.end()) root = found->second;
    if (found == roots.end() && !roots.empty()) root = "?;";  // the test's beginning was overwritten
    output.limit.check(file);
    return file.learn(entry), true;
  };
  tracing::recording::replay(*file.recording, *registry, each, LostEntries::restored,
                             tracing::recording::ReplayTimes::steady);
}

void write_json(Files const& files, Options const& options, Output& output) {
  tracing::FormatOptions format;
  format.kind = tracing::FormatKind::json;
  format.ansi = false;
  LinePrinter printer("export", {.filter = options.filter, .format = format},
                      [&output](std::string_view line) { output.write(line); });
  for (auto const& file : files) printer.add(*file, files.size() == 1);
  printer.finish();
}

std::string output_of(CLI::Option const* option) {
  std::string const name = option->results().empty() ? "" : option->results().front();
  return name.empty() ? "-" : name;
}

int write_file(Files const& files, Options const& options, CLI::Option const* format, std::string const& path) {
  Output output(path, files);
  if (options.perfetto == format) write_perfetto(files, options, output);
  if (options.chrome == format) write_chrome(files, options, output, path.ends_with(".gz"));
  for (auto const& file : files)
    if (options.folded == format) write_folded(*file, options, output);
  if (options.json == format) write_json(files, options, output);
  std::error_code const error = output.file.finish();
  return error ? fail_to_write(path, error) : static_cast<int>(kDone);
}

// Returns the tests of a run or, if recordings are named, their tests.
PackedRun tests_of(Inputs const& given) {
  Inputs const inputs = with_run(given);
  std::vector<std::string> paths = inputs.paths;
  if (!paths.empty() && !inputs.run.empty())
    throw UsageError("export: --run selects a run; name no recording beside it");
  if (tracing::recording::is_tar(inputs.run)) paths = {inputs.run};
  PackedRun packed;
  if (paths.empty()) {
    packed.summary = read_summary(run_named("export", inputs.run.empty() ? "latest" : inputs.run), kReadForJunit);
    return packed;
  }
  packed = read_packed_run("export", paths);
  if (packed.recordings == 0) throw std::runtime_error("export: expected recordings that can be read");
  return packed;
}

int export_junit(Options const& options, std::string const& path) {
  if (options.filter_option->count() > 0)
    throw UsageError("export: --junit writes whole reports; expected no --filter");
  check_output("export", options.inputs.paths, path);
  PackedRun const run = tests_of(options.inputs);
  OutputFile file(path);
  file.write(junit_of(run.summary.tests, ci_settings(), for_each_line_of_report));
  if (std::error_code const error = file.finish()) return fail_to_write(path, error);
  return run.is_complete ? kDone : kFailed;
}

// Returns the option of the format. It is --otlp or --otlp-logs if one or both are given.
CLI::Option const* format_of(Options const& options) {
  CLI::Option const* format = options.otlp->count() > 0 ? options.otlp : options.otlp_logs;
  int formats = format->count() > 0;
  for (CLI::Option const* const option : {options.perfetto, options.xplane, options.chrome, options.folded,
                                          options.json, options.junit, options.otlp_http}) {
    if (option->count() > 0) format = option, ++formats;
  }
  if (formats != 1)
    throw UsageError(
        "export: expected one of --perfetto, --xplane, --chrome, --folded, --json, --junit, --otlp, --otlp-logs, "
        "--otlp-http");
  return format;
}

std::string path_of(CLI::Option const* option) { return option->count() > 0 ? output_of(option) : ""; }

bool is_otlp(Options const& options) {
  return options.otlp->count() + options.otlp_logs->count() + options.otlp_http->count() > 0;
}

void check_otlp(Options const& options) {
  if (options.otlp_events->count() > 0 && options.otlp->count() + options.otlp_http->count() == 0)
    throw UsageError("export: --otlp-events is about the spans of --otlp and --otlp-http");
  if (options.otlp->count() > 0 && path_of(options.otlp) == path_of(options.otlp_logs))
    throw UsageError("export: --otlp and --otlp-logs need two files, since a file has one kind of requests");
  if (options.otlp_http->count() > 0 && !otlp::HttpSender::is_available())
    throw UsageError(
        "export: this program was built without cpp-httplib (Debian: libcpp-httplib-dev), so it cannot send");
}

int export_otlp(std::vector<std::string> const& recordings, Options const& options, DirectiveNotes& directives) {
  std::string const url = output_of(options.otlp_http), spans = path_of(options.otlp),
                    logs = path_of(options.otlp_logs);
  Progress progress("export", recordings.size(), "recordings", spans == "-" || logs == "-");
  std::string notes;
  auto const each = [&](OpenedRecording& file) {
    progress.step();
    notes += notes_of("export", file);
    directives.add(file);
  };
  otlp::OtlpOptions const otlp{.recordings = recordings,
                               .filter = options.filter,
                               .span_events = options.otlp_events_are == "span",
                               .each = each};
  int const status =
      options.otlp_http->count() == 0 ? otlp::write_files(otlp, spans, logs) : otlp::send(otlp, url == "-" ? "" : url);
  if (status == kDone) report(notes + directives.lines());
  return status;
}

int run(Options const& options) {
  CLI::Option const* const format = format_of(options);
  std::string const path = output_of(format);
  if (options.chrome == format && path.ends_with(".gz") && !tracing::recording::Gzip::is_available())
    throw UsageError("export: this program was built without zlib (Debian: zlib1g-dev), so it cannot write " + path +
                     "; expected a name without .gz");
  check_otlp(options);
  bool const is_archive = options.perfetto == format && path.ends_with(".tar");
  if (!is_archive && options.top_option->count() > 0)
    throw UsageError("export: --top is about a TAR; expected --perfetto and a name that ends in .tar");
  if (is_archive)
    return export_perfetto_archive(
        {.inputs = options.inputs, .filter = options.filter, .output = path, .top = options.top});
  if (options.junit == format) return export_junit(options, path);
  DirectiveNotes directives("export", options.filter);
  std::vector<std::string> const inputs = files_of("export", options.inputs);
  if (options.otlp_http != format) check_output("export", inputs, path);
  if (options.otlp_logs->count() > 0) check_output("export", inputs, output_of(options.otlp_logs));
  if (is_otlp(options)) return export_otlp(inputs, options, directives);
  Files files;
  std::size_t records = 0;
  for (std::string const& input : inputs) {
    files.push_back(open_recording("export", input));
    if (files.back() == nullptr) return kFailed;
    records += files.back()->recording->entry_count();
  }
  auto progress = std::make_unique<Progress>("export", records, "records", path == "-");
  for (auto const& file : files) file->progress = progress.get();
  int const status =
      options.xplane == format ? write_xplanes(files, options, path) : write_file(files, options, format, path);
  progress.reset();
  if (status != kDone) return status;
  for (auto const& file : files) {
    report(notes_of("export", *file));
    directives.add(*file);
  }
  report(directives.lines());
  return kDone;
}

constexpr char kFooter[] = R"(
Examples:
  testlog export run.rec --perfetto run.pftrace       then open run.pftrace in ui.perfetto.dev
  testlog export --perfetto all.pftrace               all tests that failed in the last ctest on one timeline
  testlog export --perfetto all.tar shard-*.tar       several machines on one timeline
  testlog export run.rec --xplane logs                then xprof --logdir logs
  testlog export worker-*.rec --chrome all.json       several processes in one trace
  testlog export run.rec --folded | testlog flame -o run.svg
  testlog export run.rec --json | jq .fields.message
  testlog export --junit junit.xml                    the tests of the last ctest, for CI
  testlog export --otlp spans.jsonl --otlp-logs events.jsonl
  testlog export --otlp-http http://127.0.0.1:4318

Exit status: 0 the file was written, even if parts of a recording are missing; 1 a file could not be read or written, or
a receiver did not take all; 2 a mistake in the command line.)";

}  // namespace

Status export_perfetto(std::string const& command, std::vector<std::string> const& recordings,
                       std::string const& filter, std::string const& output) {
  (void)filter_of(command, filter);
  Options options;
  options.filter = filter;
  Files files;
  for (std::string const& recording : recordings) {
    files.push_back(open_recording(command, recording));
    if (files.back() == nullptr) return kFailed;
  }
  Output written(output, files);
  write_perfetto(files, options, written);
  if (std::error_code const error = written.file.finish()) {
    report("testlog " + command + ": cannot write " + printable(output) + ": " + error.message() + "\n");
    return kFailed;
  }
  for (auto const& one : files) report(notes_of(command, *one));
  return kDone;
}

Command add_export_command(CLI::App& program) {
  auto const shared = std::make_shared<Options>();
  Options& options = *shared;
  CLI::App& command = *program.add_subcommand("export",
                                              "Converts recordings to Perfetto or Chrome traces, profiles, folded "
                                              "stacks, JSON lines, JUnit files or OpenTelemetry.");
  command.footer(kFooter);
  add_recordings(command, options.inputs);
  auto const add = [&command](char const* name, char const* description) {
    return command.add_option(std::string(name))->description(description)->type_name("OUT")->expected(0, 1);
  };
  options.perfetto =
      add("--perfetto",
          "Writes a trace for ui.perfetto.dev to OUT; `-`, or no name: standard output; NAME.tar: processes of several "
          "machines and the slots of ctest on one timeline");
  options.top_option =
      command
          .add_option("--top", options.top,
                      "So many recordings in a TAR of --perfetto: of tests that failed first, then the slowest; 0: all")
          ->check(CLI::Range(1'000'000).description(""))
          ->capture_default_str();
  options.xplane =
      command.add_option("--xplane")
          ->description("Writes a profile for xprof and TensorBoard to DIR/plugins/profile/, a file for each recording")
          ->type_name("DIR");
  options.chrome =
      add("--chrome", "Writes a Chrome trace, as TRACE_CHROME does; compressed to a name that ends in .gz");
  options.folded = add("--folded", "Writes folded stacks, as TRACE_FLAME does");
  options.json = add("--json", "Writes JSON lines, as TRACE_FORMAT=json prints them, in the order of time");
  options.junit = add("--junit", "Writes a JUnit file: a case for each test of the run, also for tests that passed");
  options.otlp = add("--otlp", "Writes spans for OpenTelemetry, a request of OTLP/JSON on each line");
  options.otlp_logs = add("--otlp-logs", "Writes events for OpenTelemetry, alone or beside --otlp");
  options.otlp_http =
      command.add_option("--otlp-http")
          ->description(
              "Sends spans to a receiver of OpenTelemetry; without a URL where OTEL_EXPORTER_OTLP_ENDPOINT says")
          ->type_name("URL")
          ->expected(0, 1);
  options.otlp_events = command
                            .add_option("--otlp-events", options.otlp_events_are,
                                        "What events are: log records, or parts of the spans of --otlp")
                            ->check(CLI::IsMember({"log", "span"}))
                            ->capture_default_str();
  options.filter_option =
      command.add_option("--filter", options.filter, "Directives, as in TRACE_FILTER")->capture_default_str();
  return {&command, [shared] { return run(*shared); }};
}

}  // namespace testlog::cli
