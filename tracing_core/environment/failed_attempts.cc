#include "tracing_core/environment/failed_attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/ring/layout.h"
#include "tracing_core/support/characters.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::size_t kMaxAddedBytes = 40;
constexpr int kMaxTries = 100;

// Returns the name of a recording without its suffix, cut so that kMaxAddedBytes can follow.
std::string stem_of(std::string const& name) {
  std::string stem = name.ends_with(recording::kRecordingSuffix)
                         ? name.substr(0, name.size() - recording::kRecordingSuffix.size())
                         : name;
  return stem.substr(0, kMaxNameBytes - kMaxAddedBytes);
}

// The recording that an ended process left. Locked, so that only one of several new processes renames it.
class EndedRecording {
 public:
  explicit EndedRecording(std::string const& path) noexcept : file_(open_file(path.c_str(), O_RDWR | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0) return;
    bool const is_file = S_ISREG(status.st_mode) && status.st_nlink == 1;  // maybe of another user, before `sudo ctest`
    alignas(internal::RegionHeader) char bytes[sizeof(internal::RegionHeader)];
    auto const& header = *reinterpret_cast<internal::RegionHeader const*>(bytes);
    if (is_file && flock(file_, LOCK_EX | LOCK_NB) == 0 &&
        pread(file_, bytes, sizeof(bytes), 0) == static_cast<ssize_t>(sizeof(bytes)) &&
        std::memcmp(header.magic, internal::kRecordingMagic, sizeof(header.magic)) == 0)
      start_ = Instant{header.start_ns};
  }
  EndedRecording(EndedRecording const&) = delete;
  EndedRecording& operator=(EndedRecording const&) = delete;
  ~EndedRecording() {
    if (file_ >= 0) close(file_);
  }

  // Returns when it began; nothing if there is no recording, or if its process still runs.
  std::optional<Instant> const& start() const noexcept { return start_; }

 private:
  int const file_;
  std::optional<Instant> start_;
};

// Returns the attempt that made the recording of this name which began at `start`. A log of many runs is read from its
// end on, as far as is needed.
std::optional<RunLog::Attempt> attempt_of(std::string const& folder, std::string const& name, Instant start) {
  std::optional<RunLog::Attempt> found;
  for (std::size_t const bytes : {std::size_t{1} << 20, std::size_t{4} << 20, SIZE_MAX}) {
    for (RunLog::Attempt& attempt : RunLog(folder).attempts(name, bytes))
      if (attempt.file == name && attempt.began <= start) found = std::move(attempt);
    if (found) break;
  }
  return found;
}

void remove_oldest(std::string const& folder, std::string const& name) {
  std::string const stem = stem_of(name);
  std::vector<std::string> attempts;
  std::unique_ptr<DIR, int (*)(DIR*)> const entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return;
  while (dirent const* const entry = readdir(entries.get())) {  // maybe 10,000, so their names are not copied
    std::string_view const own = entry->d_name;
    if (own.starts_with(stem) && own != name &&
        name_of_attempt(std::string(own)) == stem + std::string(recording::kRecordingSuffix))
      attempts.emplace_back(own);
  }
  std::sort(attempts.begin(), attempts.end());  // the oldest first, as their names tell
  for (std::size_t i = 0; i + kMaxFailedAttempts < attempts.size(); ++i) unlink((folder + "/" + attempts[i]).c_str());
}

}  // namespace

std::string name_of_attempt(std::string const& name) {
  constexpr std::string_view kNumber = ".attempt-", kTime = ".00000000-000000-000";
  std::size_t const number = name.rfind(kNumber);
  if (number == name.npos || number < kTime.size() || !name.ends_with(recording::kRecordingSuffix)) return name;
  std::size_t const time = number - kTime.size();
  for (std::size_t i = 0; i < kTime.size(); ++i) {
    bool const is_as_expected = kTime[i] == '0' ? is_digit(name[time + i]) : name[time + i] == kTime[i];
    if (!is_as_expected) return name;
  }
  return name.substr(0, time).append(recording::kRecordingSuffix);
}

void keep_failed_attempt(std::string const& folder, std::string const& name) noexcept {
  try {
    std::string const path = folder + "/" + name;
    EndedRecording const ended(path);
    if (!ended.start()) return;
    auto const attempt = attempt_of(folder, name, *ended.start());
    if (attempt && attempt->passed == true) return;
    std::int64_t const ms = ended.start()->ns / 1'000'000;
    std::string const kept =
        fmt::format("{}/{}.{:%Y%m%d-%H%M%S}-{:03}.attempt-{}", folder, stem_of(name),
                    fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000, attempt ? attempt->number : 1);
    for (int i = 1; i <= kMaxTries; ++i) {
      std::string const tried =
          kept + (i == 1 ? std::string() : "-" + std::to_string(i)) + recording::kRecordingSuffix.data();
      if (link(path.c_str(), tried.c_str()) == 0) {
        unlink(path.c_str());
        break;
      }
      if (errno == EEXIST) continue;
      std::rename(path.c_str(), tried.c_str());  // a file system without hard links
      break;
    }
    remove_oldest(folder, name);
  } catch (...) {  // out of memory
  }
}

}}}  // namespace tracing::v1::environment
