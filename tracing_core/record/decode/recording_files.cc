#include "tracing_core/record/decode/recording_files.h"

#include <algorithm>
#include <filesystem>

namespace tracing { inline namespace v1 { namespace recording {

namespace fs = std::filesystem;

std::vector<std::string> recordings_in(std::string const& folder, Folders folders, std::error_code& error) {
  std::vector<std::string> found;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (folders == Folders::only_this) at.disable_recursion_pending();
    if (at->path().extension() == kRecordingSuffix) found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}}}  // namespace tracing::v1::recording
