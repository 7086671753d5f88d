#include "tracing_core/environment/ctest_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "tracing_core/internal/open_file.h"

namespace tracing::inline v1::internal {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

std::vector<std::filesystem::path> logs_of_ctest(std::filesystem::path const& temporary) {
  std::vector<std::filesystem::path> logs;
  std::error_code error;
  for (auto const& entry : std::filesystem::directory_iterator(temporary, error)) {
    std::string const name = entry.path().filename();
    bool const is_log = name.ends_with(".log") || name.ends_with(".log.tmp");
    if (is_log && (name.starts_with("LastTest.") || name.starts_with("LastTest_"))) logs.push_back(entry.path());
  }
  return logs;
}

std::optional<Instant> start_of_ctest(std::filesystem::path const& temporary) {
  std::optional<Instant> latest;
  for (std::filesystem::path const& log : logs_of_ctest(temporary)) {
    struct statx file {};
    if (statx(AT_FDCWD, log.c_str(), 0, STATX_BTIME, &file) != 0 || (file.stx_mask & STATX_BTIME) == 0) continue;
    Instant const made{file.stx_btime.tv_sec * kSecond + file.stx_btime.tv_nsec};
    if (!latest || made > *latest) latest = made;
  }
  return latest;
}

void empty_if_older(std::string const& path, Instant time) noexcept {
  struct stat file {};
  auto const is_older = [&file, time] {
    bool const is_own = S_ISREG(file.st_mode) && file.st_uid == geteuid() && file.st_nlink == 1;
    return is_own && file.st_size > 0 && Instant{file.st_mtim.tv_sec * kSecond + file.st_mtim.tv_nsec} < time;
  };
  if (lstat(path.c_str(), &file) != 0 || !is_older()) return;
  int const descriptor = open_file(path.c_str(), O_WRONLY | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX) == 0 && fstat(descriptor, &file) == 0 && is_older()) (void)!ftruncate(descriptor, 0);
  close(descriptor);
}

}  // namespace tracing::inline v1::internal
