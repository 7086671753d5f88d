#include "tracing_core/export/write_all.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <optional>
#include <system_error>

#include "tracing_core/export/scoped_no_cancellation.h"
#include "tracing_core/internal/scoped_signal_block.h"
#include "tracing_core/internal/fork.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {
namespace {

constexpr int kMaxWaitMs = 1000;  // for the reader of a non-blocking descriptor

// Set by the first text that is longer than PIPE_BUF, so that programs without such text never take the lock.
constinit std::atomic<bool> turns_are_taken{false};
constinit pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;  // with a time limit, which internal::Mutex has not

[[gnu::constructor]] void register_fork_handler() noexcept {
  set_fork_handler(ForkStage::writes, {nullptr, nullptr, []() noexcept { pthread_mutex_init(&turn, nullptr); }});
}

class ScopedTurn {
 public:
  explicit ScopedTurn(std::size_t bytes) noexcept {
    if (!turns_are_taken.load(std::memory_order_relaxed)) [[likely]] {
      if (bytes <= PIPE_BUF) [[likely]] return;
      turns_are_taken.store(true, std::memory_order_relaxed);
    }
    is_taken_ = pthread_mutex_trylock(&turn) == 0 || wait();
  }
  ScopedTurn(ScopedTurn const&) = delete;
  ScopedTurn& operator=(ScopedTurn const&) = delete;
  ~ScopedTurn() {
    if (is_taken_) pthread_mutex_unlock(&turn);
  }

 private:
  static bool wait() noexcept {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kMaxWaitMs / 1000;
    return pthread_mutex_timedlock(&turn, &until) == 0;
  }

  bool is_taken_ = false;
};

int write_rest(int descriptor, std::string_view& text) noexcept {
  while (!text.empty()) {
    ssize_t const written = ::write(descriptor, text.data(), text.size());
    if (written > 0) [[likely]] {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return EIO;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor, POLLOUT, 0};
      int const found = poll(&ready, 1, kMaxWaitMs);
      if (found == 0) return EAGAIN;
      if (found < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

bool may_raise_signal(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return true;
  rlimit limit{};
  return S_ISREG(status.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

int write_all(int descriptor, std::string_view& text, bool blocks_signals, Turns turns) noexcept {
  ScopedNoCancellation const no_cancellation;
  if (!blocks_signals) [[likely]] {
    ssize_t const written = ::write(descriptor, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size())) [[likely]] return 0;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    // The program may have set RLIMIT_FSIZE meanwhile: a write reaches the limit in part, and the next one raises
    // SIGXFSZ.
  }
  ScopedSignalBlock signals;
  std::optional<ScopedTurn> own_turn;
  if (blocks_signals && turns == Turns::take) own_turn.emplace(text.size());
  int const error = write_rest(descriptor, text);
  if (error == EPIPE) signals.discard(SIGPIPE);
  if (error == EFBIG) signals.discard(SIGXFSZ);
  return error;
}

int write_once(int descriptor, std::string_view text) noexcept { return write_all(descriptor, text, true); }

void append_error(TextBuffer& out, int error) noexcept {
  try {
    out.append(std::generic_category().message(error));
  } catch (...) {
    out.append("error ");
    out.append_int(error);
  }
}

}  // namespace tracing::inline v1::internal
