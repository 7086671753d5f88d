#include "tracing_core/export/line_framer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tracing::inline v1::internal {

void LineFramer::check_file(std::string const& path) noexcept {
  is_broken_.store(false, std::memory_order_relaxed);
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  struct stat status {};
  char last = '\n';
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    (void)!pread(file, &last, 1, status.st_size - 1);
  close(file);
  is_broken_.store(last != '\n', std::memory_order_relaxed);
}

int LineFramer::end_broken(int descriptor, Turns turns) noexcept {
  std::string_view end = end_of_broken_;
  int const error = write_all(descriptor, end, /*blocks_signals=*/true, turns);
  if (error == 0) is_broken_.store(false, std::memory_order_relaxed);
  return error;
}

void LineFramer::count_missing(std::string_view lines, std::string_view rest) noexcept {
  std::size_t const written = lines.size() - rest.size();
  if (written > 0 && lines[written - 1] != '\n') is_broken_.store(true, std::memory_order_relaxed);
  missing_.fetch_add(static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n')), std::memory_order_relaxed);
}

}  // namespace tracing::inline v1::internal
