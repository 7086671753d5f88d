#include "tracing_core/export/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>

namespace tracing::inline v1::internal {
namespace {

constexpr int kMostTries = 100;

int above_standard_descriptors(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) [[likely]] return descriptor;
  int const copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int const error = errno;
  close(descriptor);
  errno = error;
  return copy;
}

bool is_regular_itself(char const* path) noexcept {
  struct stat what {};
  return lstat(path, &what) == 0 && S_ISREG(what.st_mode);
}

// A file beside `path` that then has its name; negative where there can be none.
int replace_file(char const* path, struct stat const& older, int flags) noexcept {
  char part[PATH_MAX];
  for (int i = 1; i < kMostTries; ++i) {
    int const size = std::snprintf(part, sizeof part, "%s.%ld.%d.part", path, static_cast<long>(getpid()), i);
    if (size < 0 || static_cast<std::size_t>(size) >= sizeof part) return -1;
    int const made = open_file(part, flags | O_CREAT | O_EXCL);
    if (made < 0 && errno == EEXIST) continue;
    if (made < 0) return made;
    if (older.st_uid != geteuid() || older.st_gid != getegid()) (void)!fchown(made, older.st_uid, older.st_gid);
    if (fchmod(made, older.st_mode & 07777) == 0 && rename(part, path) == 0) return made;
    unlink(part);
    close(made);
    return -1;
  }
  return -1;
}

}  // namespace

int open_file(char const* path, int flags) noexcept {
  constexpr mode_t kMode = 0666;
  int descriptor;
  do {
    descriptor = open(path, flags | O_CLOEXEC, kMode);
  } while (descriptor < 0 && errno == EINTR);
  return above_standard_descriptors(descriptor);
}

int open_new_file(char const* path, int flags) noexcept {
  for (int i = 0; i < kMostTries; ++i) {
    int const made = open_file(path, flags | O_CREAT | O_EXCL);
    if (made >= 0 || errno != EEXIST) return made;
    // One that may not be written to may not be replaced.
    int const older = open_file(path, flags);
    if (older < 0 && errno == ENOENT && is_regular_itself(path)) continue;  // it went away just now
    if (older < 0) return errno == ENOENT ? open_file(path, flags | O_CREAT) : older;
    struct stat what {};
    if (fstat(older, &what) != 0 || !S_ISREG(what.st_mode)) return older;
    int const replaced = is_regular_itself(path) ? replace_file(path, what, flags) : -1;
    if (replaced < 0) {
      (void)!ftruncate(older, 0);
      return older;
    }
    close(older);
    return replaced;
  }
  return -1;
}

}  // namespace tracing::inline v1::internal
