#include "tracing_core/export/fd_sink.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tracing_core/export/write_all.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 {

FdSink::FdSink(int descriptor, std::string name, int error_fd, std::string_view end_of_broken) noexcept
    : descriptor_(descriptor),
      blocks_signals_(internal::may_raise_signal(descriptor)),
      error_fd_(error_fd),
      name_(std::move(name)),
      lines_(end_of_broken) {
  lines_.opened(descriptor);
}

FdSink::~FdSink() {
  if (descriptor_ >= 0 && lines_.is_still(descriptor_)) close(descriptor_);
}

std::shared_ptr<FdSink> FdSink::duplicate_of(int descriptor) {
  // Prefer a number above the numbers that programs expect for their own descriptors.
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
  if (copy < 0) copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return nullptr;
  return std::make_shared<FdSink>(copy, std::string(), -1);
}

std::shared_ptr<FdSink> FdSink::append_to(std::string const& path, std::error_code& error, int error_fd,
                                          std::string_view end_of_broken, bool may_be_special) {
  using support::FileName;
  int const descriptor = support::open_to_append(path.c_str(), may_be_special ? FileName::given : FileName::formed);
  if (descriptor < 0) {
    error.assign(errno, std::generic_category());
    return nullptr;
  }
  error.clear();
  auto sink = std::make_shared<FdSink>(descriptor, path, error_fd, end_of_broken);
  sink->lines_.check_file(path);
  return sink;
}

void FdSink::write(Level, std::string_view text) noexcept {
  int const saved = errno;
  if (int const error = lines_.write(descriptor_, blocks_signals_, text)) [[unlikely]]
    report_failure(error);
  errno = saved;
}

bool FdSink::takes_joined_lines() const noexcept {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return false;
  int type = 0;
  socklen_t size = sizeof(type);
  switch (status.st_mode & S_IFMT) {
    case S_IFREG: return true;
    case S_IFCHR: return isatty(descriptor_) == 1;
    case S_IFIFO: return (fcntl(descriptor_, F_GETFL) & O_DIRECT) == 0;
    case S_IFSOCK: return getsockopt(descriptor_, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
    default: return false;
  }
}

void FdSink::report_failure(int error) noexcept {
  if (failed_writes_.fetch_add(1, std::memory_order_relaxed) != 0 || error_fd_ < 0) return;
  if (error == internal::LineFramer::kNotOurs) return;  // error_fd_, too, may be a file of the program now
  InlineTextBuffer<512> line;
  line.append("tracing: cannot write to ");
  line.append(name_.empty() ? std::string_view("a file descriptor") : std::string_view(name_));
  line.append(": ");
  internal::append_error(line, error);
  line.append("; further failures are only counted\n");
  (void)internal::write_once(error_fd_, line.view());
}

}}  // namespace tracing::v1
