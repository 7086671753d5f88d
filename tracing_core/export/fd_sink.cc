#include "tracing_core/export/fd_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {
namespace {

constexpr int kLongestWaitMs = 1000;  // for a reader of a descriptor that does not block

// While it lives, SIGPIPE does not reach this thread. A signal that waited before stays as it was.
class WithoutSigpipe {
 public:
  WithoutSigpipe() noexcept {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    was_blocked_ = sigismember(&before_, SIGPIPE) == 1;
    sigset_t pending;
    // Only a blocked signal can be waiting.
    was_pending_ = was_blocked_ && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  }
  WithoutSigpipe(WithoutSigpipe const&) = delete;
  WithoutSigpipe& operator=(WithoutSigpipe const&) = delete;
  ~WithoutSigpipe() {
    if (!was_blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // Takes away the signal that a write raised.
  void take_signal() noexcept {
    constexpr timespec kNoWait{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &kNoWait) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_blocked_;
  bool was_pending_;
};

// Writes all of `text` by `write_some(text)`, a write(2); the error where it cannot.
template <class F>
int write_all(int descriptor, std::string_view text, F write_some) noexcept {
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
  return write_all(descriptor, text, [descriptor](std::string_view rest) { return ::write(descriptor, rest.data(), rest.size()); });
}

int write_pipe(int descriptor, std::string_view text) noexcept {
  WithoutSigpipe signal;
  int const error = write_file(descriptor, text);
  if (error == EPIPE) signal.take_signal();
  return error;
}

int write_socket(int descriptor, std::string_view text) noexcept {
  return write_all(descriptor, text,
                   [descriptor](std::string_view rest) { return ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL); });
}

// How to write to what `descriptor` is without a SIGPIPE, which would end the program.
auto writing_to(int descriptor) noexcept {
  struct stat what {};
  if (fstat(descriptor, &what) != 0) return write_file;
  return S_ISSOCK(what.st_mode) ? write_socket : S_ISFIFO(what.st_mode) ? write_pipe : write_file;
}

}  // namespace

FdSink::FdSink(int descriptor, std::string name, int complain_to) noexcept
    : descriptor_(descriptor), complain_to_(complain_to), name_(std::move(name)), write_all_(writing_to(descriptor)) {}

FdSink::~FdSink() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::shared_ptr<FdSink> FdSink::duplicate_of(int descriptor) {
  // Above the descriptors that programs expect to get and to redirect.
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
  if (copy < 0) copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return nullptr;
  return std::make_shared<FdSink>(copy, std::string(), -1);
}

std::shared_ptr<FdSink> FdSink::append_to(std::string const& path, std::error_code& error) {
  int descriptor;
  do {
    descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    error.assign(errno, std::generic_category());
    return nullptr;
  }
  error.clear();
  return std::make_shared<FdSink>(descriptor, path);
}

void FdSink::write(Level, std::string_view text) noexcept {
  int const saved = errno;
  if (int const error = write_all_(descriptor_, text)) [[unlikely]] fail(error);
  errno = saved;
}

void FdSink::fail(int error) noexcept {
  if (failed_writes_.fetch_add(1, std::memory_order_relaxed) != 0 || complain_to_ < 0) return;
  InlineTextBuffer<512> line;
  line.append("tracing: cannot write to ");
  line.append(name_.empty() ? std::string_view("a file descriptor") : std::string_view(name_));
  line.append(": ");
  try {
    line.append(std::generic_category().message(error));
  } catch (...) {
    line.append("error ");
    line.append_int(error);
  }
  line.append("; further failures are only counted\n");
  (void)writing_to(complain_to_)(complain_to_, line.view());
}

}  // namespace tracing::inline v1
