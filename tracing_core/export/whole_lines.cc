#include "tracing_core/export/whole_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tracing::inline v1::internal {
namespace {

// How long a file is, and whether it ends in a line that broke off; 0 where that cannot be known.
off_t broken_size(int descriptor, std::string const& path) noexcept {
  struct stat what {};
  if (fstat(descriptor, &what) != 0 || !S_ISREG(what.st_mode) || what.st_size == 0) return 0;
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return 0;
  char last = '\n';
  bool const is_known = pread(file, &last, 1, what.st_size - 1) == 1;
  close(file);
  return is_known && last != '\n' ? what.st_size : 0;
}

}  // namespace

// The first pages of what another process is writing can be seen while it copies the others. A write of nothing waits for
// it: a file that is as long as before broke off in earnest.
void WholeLines::look_at(int descriptor, std::string const& path) noexcept {
  off_t size = broken_size(descriptor, path);
  for (off_t before = 0; size != 0 && size != before; size = broken_size(descriptor, path)) {
    before = size;
    if (::write(descriptor, "", 0) != 0) break;
  }
  unsigned const count = broken_.load(std::memory_order_relaxed) + 1;
  broken_.store(count, std::memory_order_relaxed);
  ended_.store(size != 0 ? count - 1 : count, std::memory_order_relaxed);
}

// Only what was broken before is ended: one that breaks off meanwhile is the next one's.
int WholeLines::end_broken(int descriptor, WriteAll* write_all) noexcept {
  unsigned const broken = broken_.load(std::memory_order_relaxed);
  std::string_view end = end_of_broken_;
  int const error = write_all(descriptor, end);
  if (error == 0) ended_.store(broken, std::memory_order_relaxed);
  return error;
}

void WholeLines::count_missing(std::string_view lines, std::string_view rest) noexcept {
  auto count = static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
  if (!rest.empty() && rest.back() != '\n') ++count;
  std::size_t const written = lines.size() - rest.size();
  if (written > 0 && lines[written - 1] != '\n') {
    broken_.fetch_add(1, std::memory_order_relaxed);
    if (rest.front() == '\n' && end_of_broken_ == "\n") --count;  // it lacks only what the next one begins with
  }
  missing_.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace tracing::inline v1::internal
