#include "tracing_core/record/recordings.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tracing_core/record/decode/entry_reader.h"
#include "tracing_core/record/decode/recording_files.h"

namespace tracing { inline namespace v1 { namespace recording {

namespace fs = std::filesystem;

Recordings Recordings::open(std::vector<std::string> const& paths) {
  Recordings made;
  for (std::string const& path : paths) {
    std::error_code error;
    if (is_tar(path)) {
      made.add_all_in_tar(path);
      continue;
    }
    if (!fs::is_directory(path, error)) {
      made.add(path);
      continue;
    }
    auto found = recordings_in(path, Folders::also_below, error);
    std::erase_if(found, [](std::string const& file) {
      std::error_code ignored;
      return !fs::is_regular_file(file, ignored);
    });
    if (error) made.errors_.push_back(path + ": " + error.message());
    if (!error && found.empty()) made.errors_.push_back(path + ": has no recordings");
    for (std::string const& file : found) made.add(file);
  }
  return made;
}

void Recordings::add_all_in_tar(std::string const& path) {
  std::string problem;
  auto const found = recordings_in_tar(path, problem);
  if (problem.empty() && found.empty()) problem = "has no recordings";
  if (!problem.empty()) errors_.push_back(path + ": " + problem);
  for (std::string const& file : found) add(file);
}

void Recordings::add(std::string const& path) {
  std::string error;
  auto recording = Recording::read_file(path, error);
  if (recording == nullptr) {
    errors_.push_back(path + ": " + error);
  } else {
    files_.push_back({path, std::move(recording)});
  }
}

void Recordings::visit(void (*each)(void* context, File const& file, Entry const& entry), void* context) {
  struct Reader {
    explicit Reader(File const& read) : file(read), entries(*read.recording->state_) {}

    File const& file;
    EntriesInOrder entries;
    Entry const* entry = nullptr;
    Instant time{};  // of the last entry, not counting entries with times of their own
  };
  std::deque<Reader> readers;
  std::vector<Reader*> waiting;  // a heap: the oldest entry first; at equal times, by file
  auto const is_later = [](Reader const* a, Reader const* b) {
    return std::pair(a->time, &a->file) > std::pair(b->time, &b->file);
  };
  auto const go_on = [&](Reader& reader) {
    reader.entry = reader.entries.next();
    if (reader.entry == nullptr) return;
    if (!reader.entry->has_own_time()) reader.time = reader.entry->time;
    waiting.push_back(&reader);
    std::push_heap(waiting.begin(), waiting.end(), is_later);
  };
  for (File const& file : files_) go_on(readers.emplace_back(file));
  while (!waiting.empty()) {
    std::pop_heap(waiting.begin(), waiting.end(), is_later);
    Reader& oldest = *waiting.back();
    waiting.pop_back();
    each(context, oldest.file, *oldest.entry);
    go_on(oldest);
  }
}

}}}  // namespace tracing::v1::recording
