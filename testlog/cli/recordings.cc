#include "testlog/cli/recordings.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "testlog/cli/commands.h"
#include "testlog/cli/run_marks.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli {
namespace {

using tracing::internal::RecordedTrack;
using tracing::internal::RecordEntry;
using tracing::internal::Recording;
using tracing::internal::RecordType;

struct Line {
  tracing::Instant time;
  std::string text;
};

void print_error(std::string const& command, std::string const& path, std::string const& text) {
  std::fprintf(stderr, "testlog %s: %s: %s\n", command.c_str(), path.c_str(), text.c_str());
}

}  // namespace

void RecordingFile::learn(RecordEntry const& entry) {
  if (entry.metadata != nullptr && entry.metadata->is_span()) spans.emplace(entry.span, entry.metadata->name());
}

tracing::EnvFilter filter_of(std::string const& command, std::string const& directives) {
  std::vector<tracing::ParseError> errors;
  auto filter = tracing::EnvFilter::parse_lossy(directives, {}, &errors);
  if (!errors.empty()) throw UsageError(command + ": " + tracing::render(errors.front(), directives, "--filter"));
  return filter;
}

std::unique_ptr<RecordingFile> open_recording(std::string const& command, std::string const& path) {
  std::string error;
  auto recording = Recording::read_file(path, error);
  if (recording == nullptr) return print_error(command, path, error), nullptr;
  return std::make_unique<RecordingFile>(RecordingFile{path, std::move(recording)});
}

void print_notes(std::string const& command, RecordingFile const& file) {
  std::uint64_t lost = file.recording->dropped();
  for (RecordedTrack const& track : file.recording->tracks()) lost += track.lost;
  print_notes(command, file, lost);
}

void print_notes(std::string const& command, RecordingFile const& file, std::uint64_t lost) {
  for (RecordedTrack const& track : file.recording->tracks()) {
    if (track.open.empty()) continue;
    std::string path;
    for (std::uint64_t const key : track.open) {
      auto const found = file.spans.find(key);
      path.append(path.empty() ? "" : ":").append(found == file.spans.end() ? "?" : found->second);
    }
    std::string const thread = track.name.empty() ? "thread " + std::to_string(track.number) : track.name;
    print_error(command, file.path, "at its end " + thread + " is in " + path);
  }
  if (lost > 0)
    print_error(command, file.path,
                std::to_string(lost) + " earlier records were overwritten; TRACE_RECORD_LIMIT keeps more");
  for (std::string const& problem : file.recording->problems()) print_error(command, file.path, problem);
}

void print_lines(std::string const& command, std::vector<std::unique_ptr<RecordingFile>> const& files,
                 LineOptions const& options, std::function<void(std::string_view)> const& out) {
  std::vector<Line> lines;  // of several files
  for (auto const& file : files) {
    tracing::Instant now;
    auto const print = [&](std::string_view line) {
      files.size() == 1 ? out(line) : lines.push_back({now, std::string(line)});
    };
    auto sink = tracing::make_sink([&](tracing::Level, std::string_view line) { print(line); });
    auto const registry =
        tracing::RegistryBuilder()
            .with(tracing::print_layer({.format = options.format, .writer = tracing::to_sink(std::move(sink))}),
                  tracing::to_filter(filter_of(command, options.filter)))
            .build();
    TestNames const tests = options.tests.empty() ? TestNames() : tests_of(*file->recording);
    auto const is_wanted = [&](RecordEntry const& entry) {
      if (file->is_new != nullptr && !file->is_new(entry)) return false;
      if (options.tests.empty()) return true;
      auto const found = tests.find(entry.tag);
      return found != tests.end() && matches_any(found->second, options.tests);
    };
    tracing::internal::replay(*file->recording, *registry, [&](RecordEntry const& entry) {
      now = entry.time;
      file->learn(entry);
      bool const wanted = is_wanted(entry);
      if (options.marks && wanted && entry.type == RecordType::mark) print(text_of_mark(entry, options.format));
      return wanted;
    });
  }
  std::stable_sort(lines.begin(), lines.end(), [](Line const& a, Line const& b) { return a.time < b.time; });
  for (Line const& line : lines) out(line.text);
}

std::vector<std::string> with_folders_opened(std::string const& command, std::vector<std::string> const& paths) {
  std::vector<std::string> files;
  for (std::string const& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto const& entry : std::filesystem::directory_iterator(path, error))
      if (entry.path().extension() == ".rec") found.push_back(entry.path());
    if (found.empty()) throw UsageError(command + ": " + path + " has no recordings (*.rec)");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace testlog::cli
