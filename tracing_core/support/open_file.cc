#include "tracing_core/support/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace tracing { inline namespace v1 { namespace support {
namespace {

int above_standard_streams(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) [[likely]]
    return descriptor;
  int const copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int const error = errno;
  close(descriptor);
  errno = error;
  return copy;
}

int open_with_mode(char const* path, int flags, mode_t mode) noexcept {
  int descriptor;
  do {
    descriptor = open(path, flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return above_standard_streams(descriptor);
}

// True if the system owns a link of this name: /dev/stdout, /dev/fd/3, /proc/self/fd/3. False in folders below /dev,
// such as /dev/shm, where everybody may make links.
bool is_name_of_system(std::string_view path) noexcept {
  constexpr std::string_view kDevices = "/dev/";
  if (path.starts_with("/proc/") || path.starts_with("/dev/fd/")) return true;
  return path.starts_with(kDevices) && path.find('/', kDevices.size()) == path.npos;
}

}  // namespace

int open_own(char const* path, int flags) noexcept {
  int const descriptor = open_file(path, flags | O_NONBLOCK);  // does not wait for a pipe's reader
  struct stat status {};
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      status.st_nlink == 1)
    return descriptor;
  bool const is_other = descriptor >= 0 || errno == ELOOP || errno == ENXIO;  // ENXIO: a pipe without a reader
  int const error = is_other ? EEXIST : errno;
  if (descriptor >= 0) close(descriptor);
  errno = error;
  return -1;
}

int open_file(char const* path, int flags) noexcept {
  return open_with_mode(path, flags | (is_name_of_system(path) ? 0 : O_NOFOLLOW), 0);
}

int create_file(char const* path, int flags) noexcept {
  return open_with_mode(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

int open_to_append(char const* path, FileName name) noexcept {
  constexpr int kTries = 100;  // other processes may keep creating and removing the file
  constexpr int kFlags = O_WRONLY | O_APPEND;
  int descriptor = -1;
  for (int i = 0; i < kTries && descriptor < 0; ++i) {
    descriptor = create_file(path, kFlags);
    if (descriptor >= 0 || errno != EEXIST) break;
    descriptor = name == FileName::given ? open_file(path, kFlags) : open_own(path, kFlags);
    if (descriptor < 0 && errno != ENOENT) break;
  }
  return descriptor;
}

int open_new_file(char const* path, int flags) noexcept {
  if (is_special_file(path)) return open_file(path, flags);
  constexpr int kTries = 100;
  int descriptor = -1;
  for (int i = 0; i < kTries && descriptor < 0; ++i) {
    descriptor = create_file(path, flags);
    if (descriptor >= 0 || errno != EEXIST) break;
    if (unlink(path) != 0 && errno != ENOENT) return open_file(path, flags | O_TRUNC);
  }
  return descriptor;
}

std::string part_of(std::string const& path) {
  constexpr std::size_t kMaxName = 220;  // with the process id and the suffix at most 255
  std::size_t const name = path.rfind('/') + 1;
  return path.substr(0, name + std::min(path.size() - name, kMaxName)) + "." + std::to_string(getpid()) + ".part";
}

int create_part(std::string const& path, std::string& part) {
  part = part_of(path);
  unlink(part.c_str());
  return create_file(part.c_str(), O_WRONLY);
}

bool is_special_file(char const* path) noexcept {
  struct stat status {};
  if (lstat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return false;
  return !S_ISLNK(status.st_mode) || is_name_of_system(path);
}

std::uint64_t file_identity(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return 0;
  // Device numbers are small: the multiplication spreads them into the upper bits.
  return static_cast<std::uint64_t>(status.st_ino) ^
         (static_cast<std::uint64_t>(status.st_dev) + 1) * 0x9e3779b97f4a7c15;
}

}}}  // namespace tracing::v1::support
