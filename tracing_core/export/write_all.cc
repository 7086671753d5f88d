#include "tracing_core/export/write_all.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tracing_core/export/without_signal.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {
namespace {

constexpr int kLongestWaitMs = 1000;  // for a reader of a descriptor that does not block

// Writes all of `text` by `write_some(text)`, a write(2); the error where it cannot.
template <class F>
int write_by(int descriptor, std::string_view& text, F write_some) noexcept {
  while (!text.empty()) {
    ssize_t const written = write_some(text);
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return EIO;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor, POLLOUT, 0};
      int const found = poll(&ready, 1, kLongestWaitMs);
      if (found == 0) return EAGAIN;
      if (found < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int write_plainly(int descriptor, std::string_view& text) noexcept {
  return write_by(descriptor, text,
                  [descriptor](std::string_view rest) { return ::write(descriptor, rest.data(), rest.size()); });
}

// Whether files may grow to some size only. Asking costs a tenth of writing a line, blocking the signal a quarter. glibc's
// getrlimit() asks by prlimit64, which takes half as long again as the call that is only about this process.
bool is_limited() noexcept {
  rlimit limit{};
#if defined(SYS_getrlimit) && defined(__LP64__)
  bool const is_known = syscall(SYS_getrlimit, RLIMIT_FSIZE, &limit) == 0;
#else
  bool const is_known = getrlimit(RLIMIT_FSIZE, &limit) == 0;
#endif
  return is_known && limit.rlim_cur != RLIM_INFINITY;
}

int write_limited(int descriptor, std::string_view& text) noexcept {
  WithoutSignal signal(SIGXFSZ);
  int const error = write_plainly(descriptor, text);
  if (error == EFBIG) signal.take();
  return error;
}

// The write that reaches a limit takes a part, and only one behind it raises SIGXFSZ.
int write_file(int descriptor, std::string_view& text) noexcept {
  if (is_limited()) [[unlikely]] return write_limited(descriptor, text);
  ssize_t const written = ::write(descriptor, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) [[likely]] return 0;
  if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  return write_limited(descriptor, text);
}

int write_pipe(int descriptor, std::string_view& text) noexcept {
  WithoutSignal signal(SIGPIPE);
  int const error = write_plainly(descriptor, text);
  if (error == EPIPE) signal.take();
  return error;
}

int write_socket(int descriptor, std::string_view& text) noexcept {
  return write_by(descriptor, text,
                  [descriptor](std::string_view rest) { return ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL); });
}

}  // namespace

WriteAll* writing_to(int descriptor) noexcept {
  struct stat what {};
  if (fstat(descriptor, &what) != 0) return write_file;
  return S_ISSOCK(what.st_mode) ? write_socket : S_ISFIFO(what.st_mode) ? write_pipe : write_file;
}

void append_error(TextBuffer& out, int error) noexcept {
  try {
    out.append(std::generic_category().message(error));
  } catch (...) {
    out.append("error ");
    out.append_int(error);
  }
}

int write_anywhere(int descriptor, std::string_view& text) noexcept {
  WithoutSignal signal(SIGPIPE);
  int const error = write_limited(descriptor, text);
  if (error == EPIPE) signal.take();
  return error;
}

int write_once(int descriptor, std::string_view text) noexcept { return writing_to(descriptor)(descriptor, text); }

int write_block(int descriptor, std::string_view text) noexcept {
  WriteAll* const write = writing_to(descriptor);
  return (write == write_file ? write_limited : write)(descriptor, text);
}

}  // namespace tracing::inline v1::internal
