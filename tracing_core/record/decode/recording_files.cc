#include "tracing_core/record/decode/recording_files.h"

#include <algorithm>
#include <filesystem>

#include "tracing_core/record/decode/tar_file.h"

namespace tracing { inline namespace v1 { namespace recording {

namespace fs = std::filesystem;

namespace {

bool is_recording_name(std::string_view name) noexcept {
  name.remove_prefix(name.rfind('/') + 1);  // 0 without a slash
  bool const is_compressed = name.ends_with(kCompressedSuffix);
  std::size_t const suffix = is_compressed ? kCompressedSuffix.size() : kRecordingSuffix.size();
  return name.size() > suffix && (is_compressed || name.ends_with(kRecordingSuffix));  // `.rec` alone is a hidden file
}

}  // namespace

std::vector<std::string> recordings_in(std::string const& folder, Folders folders, std::error_code& error) {
  std::vector<std::string> found;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (folders == Folders::only_this) at.disable_recursion_pending();
    if (is_recording_name(at->path().native())) found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_tar(std::string const& path) { return open_tar(path) != nullptr; }

std::vector<std::string> recordings_in_tar(std::string const& path, std::string& problem) {
  std::vector<std::string> found;
  auto const table = open_tar(path);
  if (table == nullptr) return found;
  for (auto const& [name, member] : table->members()) {
    if (is_recording_name(name)) found.push_back(path + "/" + name);
  }
  problem = table->problem();
  return found;
}

std::string name_of_recording(std::string const& path) {
  std::string const name = fs::path(path).filename().string();
  if (is_recording_name(name) && name.ends_with(kCompressedSuffix))
    return name.substr(0, name.size() - kCompressedSuffix.size());
  return fs::path(name).stem().string();
}

}}}  // namespace tracing::v1::recording
