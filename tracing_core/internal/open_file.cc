#include "tracing_core/internal/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tracing::inline v1::internal {
namespace {

int above_standard_streams(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) [[likely]] return descriptor;
  int const copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int const error = errno;
  close(descriptor);
  errno = error;
  return copy;
}

}  // namespace

int open_file(char const* path, int flags, unsigned mode) noexcept {
  int descriptor;
  do {
    descriptor = open(path, flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return above_standard_streams(descriptor);
}

int open_new_file(char const* path, int flags) noexcept {
  struct stat status {};
  // An empty file may be one that this process has just created to reserve the name.
  bool const is_used = lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (is_used && access(path, W_OK) == 0) unlink(path);
  return open_file(path, flags | O_CREAT | O_TRUNC);
}

std::uint64_t file_identity(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return 0;
  // Devices are small numbers, so that they change the upper bits.
  return static_cast<std::uint64_t>(status.st_ino) ^ (static_cast<std::uint64_t>(status.st_dev) + 1) * 0x9e3779b97f4a7c15;
}

}  // namespace tracing::inline v1::internal
