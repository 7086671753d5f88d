#include "tracing_core/export/write_all.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace tracing::inline v1::internal {
namespace {

constexpr int kLongestWaitMs = 1000;  // for a reader of a descriptor that does not block

// While it lives, one signal does not reach this thread. One that waited before stays as it was.
class WithoutSignal {
 public:
  explicit WithoutSignal(int number) noexcept : number_(number) {
    sigemptyset(&signal_);
    sigaddset(&signal_, number);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_blocked_ = sigismember(&before_, number) == 1;
    sigset_t pending;
    // Only a blocked signal can be waiting.
    was_pending_ = was_blocked_ && sigpending(&pending) == 0 && sigismember(&pending, number_) == 1;
  }
  WithoutSignal(WithoutSignal const&) = delete;
  WithoutSignal& operator=(WithoutSignal const&) = delete;
  ~WithoutSignal() {
    if (!was_blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // Takes away the signal that a write raised.
  void take() noexcept {
    constexpr timespec kNoWait{};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &kNoWait) < 0 && errno == EINTR) {
    }
  }

 private:
  int const number_;
  sigset_t signal_;
  sigset_t before_;
  bool was_blocked_;
  bool was_pending_;
};

// Writes all of `text` by `write_some(text)`, a write(2); the error where it cannot.
template <class F>
int write_by(int descriptor, std::string_view text, F write_some) noexcept {
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

int write_file(int descriptor, std::string_view text) noexcept {
  return write_by(descriptor, text, [descriptor](std::string_view rest) { return ::write(descriptor, rest.data(), rest.size()); });
}

int write_pipe(int descriptor, std::string_view text) noexcept {
  WithoutSignal signal(SIGPIPE);
  int const error = write_file(descriptor, text);
  if (error == EPIPE) signal.take();
  return error;
}

int write_socket(int descriptor, std::string_view text) noexcept {
  return write_by(descriptor, text,
                  [descriptor](std::string_view rest) { return ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL); });
}

}  // namespace

WriteAll* writing_to(int descriptor) noexcept {
  struct stat what {};
  if (fstat(descriptor, &what) != 0) return write_file;
  return S_ISSOCK(what.st_mode) ? write_socket : S_ISFIFO(what.st_mode) ? write_pipe : write_file;
}

int write_block(int descriptor, std::string_view text) noexcept {
  WithoutSignal signal(SIGXFSZ);
  int const error = writing_to(descriptor)(descriptor, text);
  if (error == EFBIG) signal.take();
  return error;
}

}  // namespace tracing::inline v1::internal
