#include "tracing_core/export/line_framer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "tracing_core/support/fork.h"
#include "tracing_core/support/open_file.h"
#include "tracing_core/support/scoped_no_cancellation.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// The maximum number of reads of a file's end, to distinguish an incomplete line from a line that another thread is
// writing. The pauses between them double, up to 63 ms in all: on a busy machine a thread may have to wait for a
// processor in the middle of a write(2).
constexpr int kMaxLooks = 7;

}  // namespace

int LineFramer::write(int descriptor, bool blocks_signals, std::string_view lines, Turns turns) noexcept {
  if (forks_.load(std::memory_order_relaxed) != fork_count()) [[unlikely]]
    check_still(descriptor);
  std::string_view rest = lines;
  int error = 0;
  if (is_lost_.load(std::memory_order_relaxed)) [[unlikely]] {
    error = kNotOurs;
  } else if (is_broken_.load(std::memory_order_relaxed)) [[unlikely]] {
    error = end_broken(descriptor, turns);
  }
  if (error == 0) error = write_all(descriptor, rest, blocks_signals, turns);
  if (error != 0) [[unlikely]] {
    if (error == EBADF) is_lost_.store(true, std::memory_order_relaxed);
    count_missing(lines, rest);
  }
  return error;
}

void LineFramer::opened(int descriptor) noexcept {
  identity_.store(file_identity(descriptor), std::memory_order_relaxed);
  forks_.store(fork_count(), std::memory_order_relaxed);
  is_lost_.store(false, std::memory_order_relaxed);
}

bool LineFramer::is_still(int descriptor) const noexcept {
  return file_identity(descriptor) == identity_.load(std::memory_order_relaxed);
}

void LineFramer::check_file(std::string const& path) noexcept {
  ScopedNoCancellation const no_cancellation;
  is_broken_.store(false, std::memory_order_relaxed);
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  char last = '\n';
  timespec pause{0, 1'000'000};
  for (int looks = 0; looks < kMaxLooks; ++looks) {
    if (looks > 0) {
      nanosleep(&pause, nullptr);
      pause.tv_nsec *= 2;
    }
    struct stat status {};
    last = '\n';
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
      (void)!pread(file, &last, 1, status.st_size - 1);
    if (last == '\n') break;
  }
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

}}}  // namespace tracing::v1::internal
