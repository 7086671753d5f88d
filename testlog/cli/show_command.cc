#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unistd.h>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/reader.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli {
namespace {

using tracing::internal::RecordedTrack;
using tracing::internal::RecordEntry;
using tracing::internal::Recording;
using tracing::internal::RecordType;

struct Options {
  std::vector<std::string> files;
  std::string filter = "trace";
  tracing::FormatKind format = tracing::FormatKind::full;
  std::string time = "utc";
  std::string color = "auto";
};

void print_error(std::string const& text) { std::fprintf(stderr, "testlog show: %s\n", text.c_str()); }

tracing::EnvFilter filter_of(std::string const& directives) {
  std::vector<tracing::ParseError> errors;
  auto filter = tracing::EnvFilter::parse_lossy(directives, {}, &errors);
  if (!errors.empty()) throw UsageError("show: " + tracing::render(errors.front(), directives, "--filter"));
  return filter;
}

tracing::FormatOptions format_of(Options const& options) {
  tracing::FormatOptions format;
  format.kind = options.format;
  format.ansi = options.color == "always" || (options.color == "auto" && isatty(STDOUT_FILENO) == 1);
  format.value_sanitization = true;
  format.timer = options.time == "utc" ? tracing::utc_timer() : options.time == "local" ? tracing::local_timer() : nullptr;
  return format;
}

struct Line {
  tracing::Instant time;
  std::string text;
};

// The lines of a recording; as they come to standard output unless `lines` takes them. Also learns the names of spans.
void print_lines(Recording& recording, Options const& options, std::vector<Line>* lines,
                 std::unordered_map<std::uint64_t, std::string>& names) {
  tracing::Instant now;
  auto sink = tracing::make_sink([&](tracing::Level, std::string_view line) {
    if (lines != nullptr) {
      lines->push_back({now, std::string(line)});
    } else {
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  });
  auto const registry =
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = format_of(options), .writer = tracing::to_sink(std::move(sink))}),
                tracing::to_filter(filter_of(options.filter)))
          .build();
  tracing::internal::replay(recording, *registry, [&](RecordEntry const& entry) {
    now = entry.time;
    if (entry.metadata != nullptr && entry.metadata->is_span()) names.emplace(entry.span, entry.metadata->name());
    return true;
  });
}

// What a reader must know besides the lines: what is missing, what makes no sense, and which spans were still open.
void print_notes(Recording const& recording, std::string const& file,
                 std::unordered_map<std::uint64_t, std::string> const& names) {
  std::uint64_t lost = recording.dropped();
  for (RecordedTrack const& track : recording.tracks()) {
    lost += track.lost;
    if (track.open.empty()) continue;
    std::string path;
    for (std::uint64_t const key : track.open) {
      auto const found = names.find(key);
      path.append(path.empty() ? "" : ":").append(found == names.end() ? "?" : found->second);
    }
    std::string const thread = track.name.empty() ? "thread " + std::to_string(track.number) : track.name;
    print_error(file + ": at its end " + thread + " is in " + path);
  }
  if (lost > 0)
    print_error(file + ": " + std::to_string(lost) + " earlier records were overwritten; TRACE_RECORD_LIMIT keeps more");
  for (std::string const& problem : recording.problems()) print_error(file + ": " + problem);
}

int run(Options const& options) {
  (void)filter_of(options.filter);
  std::vector<Line> lines;
  bool const is_merged = options.files.size() > 1;
  Status status = kDone;
  for (std::string const& file : options.files) {
    std::string error;
    auto const recording = Recording::read_file(file, error);
    if (recording == nullptr) {
      print_error(file + ": " + error);
      status = kFailed;
      continue;
    }
    std::unordered_map<std::uint64_t, std::string> names;
    print_lines(*recording, options, is_merged ? &lines : nullptr, names);
    std::fflush(stdout);
    print_notes(*recording, file, names);
  }
  std::stable_sort(lines.begin(), lines.end(), [](Line const& a, Line const& b) { return a.time < b.time; });
  for (Line const& line : lines) std::fwrite(line.text.data(), 1, line.text.size(), stdout);
  return std::fflush(stdout) == 0 ? status : kFailed;
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
