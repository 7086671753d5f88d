#include "tracing_core/environment/passed_recordings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "tracing_core/export/write_all.h"
#include "tracing_core/record/decode/compress_used.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

namespace fs = std::filesystem;

constexpr int kCallsPerCheck = 64;  // reading a folder of 10,000 files takes some 20 ms

// `name` is that of the recording, with `.rec`.
std::string passed_path(std::string const& folder, std::string const& name, int number) {
  std::string path = folder + "/passed/" + name;
  if (path.ends_with(recording::kRecordingSuffix)) path.resize(path.size() - recording::kRecordingSuffix.size());
  return path + "." + std::to_string(number) + std::string(recording::kCompressedSuffix);
}

// Compresses the recording to a descriptor, in place of what the file has, and closes the descriptor.
bool compress(std::string const& path, int descriptor) noexcept {
  bool is_kept = false;
  try {
    std::string error;
    bool is_written = true;
    std::size_t written = 0;
    auto const source = recording::open_source(path, error);
    is_kept = source != nullptr && recording::compress_used(*source, [&](std::string_view bytes) {
                written += bytes.size();
                is_written = is_written && internal::write_all(descriptor, bytes, /*blocks_signals=*/true,
                                                               internal::Turns::skip) == 0;
              });
    is_kept = is_kept && is_written && ftruncate(descriptor, static_cast<off_t>(written)) == 0;
  } catch (...) {  // out of memory
  }
  return close(descriptor) == 0 && is_kept;
}

// Opens the file for the new recording: the oldest recording's, since removing this file and making another can take
// longer than compressing. Its name becomes `part` meanwhile.
int open_part(std::string const& folder, std::string const& name, int count, std::string& part) {
  std::string const path = passed_path(folder, name, 1);
  part = support::part_of(path);
  int descriptor = -1;
  if (std::rename(passed_path(folder, name, count).c_str(), part.c_str()) == 0)
    descriptor = support::open_own(part.c_str(), O_WRONLY);
  return descriptor >= 0 ? descriptor : support::create_part(path, part);
}

}  // namespace

bool keep_passed(std::string const& path, std::string const& folder, std::string const& name, int count,
                 std::uintmax_t max_bytes) noexcept {
  try {
    auto const remove_from = [&](int first) {
      for (int i = first; i <= kMaxPassedRecordings && unlink(passed_path(folder, name, i).c_str()) == 0; ++i) {
      }
    };
    if (count <= 0) {
      remove_from(1);
      return false;
    }
    std::error_code error;
    std::string part;
    fs::create_directory(folder + "/passed", error);
    int const descriptor = open_part(folder, name, count, part);
    if (descriptor < 0) return false;
    if (!compress(path, descriptor)) {
      unlink(part.c_str());
      return false;
    }
    // No rename replaces a file: ext4 would then write the data of the other file to the disk at once.
    remove_from(count + 1);
    for (int i = count; i > 1; --i)
      std::rename(passed_path(folder, name, i - 1).c_str(), passed_path(folder, name, i).c_str());
    bool const is_kept = std::rename(part.c_str(), passed_path(folder, name, 1).c_str()) == 0;
    if (std::chrono::steady_clock::now().time_since_epoch().count() % kCallsPerCheck == 0)
      limit_passed(folder, max_bytes);
    return is_kept;
  } catch (...) {  // out of memory
    return false;
  }
}

std::vector<std::string> passed_recordings(std::string const& folder, std::string const& name) {
  std::vector<std::string> paths;
  for (int i = 1; i <= kMaxPassedRecordings; ++i) {
    std::string path = passed_path(folder, name, i);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) break;  // later recordings may be left of a larger `count`
    paths.push_back(std::move(path));
  }
  return paths;
}

void limit_passed(std::string const& folder, std::uintmax_t max_bytes) noexcept {
  try {
    struct File {
      fs::file_time_type written;
      std::uintmax_t bytes;
      fs::path path;
    };
    std::vector<File> files;
    std::uintmax_t sum = 0;
    std::error_code error;
    for (fs::directory_iterator at(folder + "/passed", error), end; !error && at != end; at.increment(error)) {
      std::error_code gone;
      File file{at->last_write_time(gone), at->file_size(gone), at->path()};
      if (gone) continue;
      sum += file.bytes;
      files.push_back(std::move(file));
    }
    if (sum <= max_bytes) return;
    std::sort(files.begin(), files.end(), [](File const& a, File const& b) { return a.written < b.written; });
    for (std::size_t i = 0; i < files.size() && sum > max_bytes; ++i) {
      if (fs::remove(files[i].path, error)) sum -= files[i].bytes;
    }
  } catch (...) {  // out of memory
  }
}

}}}  // namespace tracing::v1::environment
