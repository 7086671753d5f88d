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
#include <cstdint>
#include <ctime>
#include <optional>
#include <system_error>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/scoped_no_cancellation.h"
#include "tracing_core/support/scoped_signal_block.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr int kMaxWaitMs = 1000;  // for the reader of a non-blocking descriptor, and for a turn

// Set when the first text longer than PIPE_BUF is written: from then on all threads take turns. Programs without such
// text never take the lock.
constexpr std::uint32_t kTurns = std::uint32_t{1} << 31;
// Counts the shorter texts that are now being written without a turn; also has the bit kTurns. The first long text
// waits for these shorter texts. Accesses are relaxed: they must not order the threads that print, or ThreadSanitizer
// would miss races of the program.
constinit std::atomic<std::uint32_t> writers{0};
constinit std::atomic<std::uint32_t> waits{0};
constinit pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;  // taken with a time limit, which support::Mutex lacks

[[gnu::constructor]] void register_fork_handler_of_writes() noexcept {
  set_fork_handler(ForkStage::writes, {nullptr, nullptr, []() noexcept {
                                         pthread_mutex_init(&turn, nullptr);
                                         writers.fetch_and(kTurns, std::memory_order_relaxed);
                                       }});
}

class ScopedTurn {
 public:
  explicit ScopedTurn(std::size_t bytes) noexcept {
    if (bytes <= PIPE_BUF) [[likely]] {
      is_counted_ = (writers.fetch_add(1, std::memory_order_relaxed) & kTurns) == 0;
      if (is_counted_) [[likely]]
        return;
      writers.fetch_sub(1, std::memory_order_relaxed);
    } else if ((writers.fetch_or(kTurns, std::memory_order_relaxed) & kTurns) == 0) {
      wait_for_short_texts();
    }
    is_taken_ = pthread_mutex_trylock(&turn) == 0 || wait();
  }
  ScopedTurn(ScopedTurn const&) = delete;
  ScopedTurn& operator=(ScopedTurn const&) = delete;
  ~ScopedTurn() {
    if (is_counted_) writers.fetch_sub(1, std::memory_order_relaxed);
    if (is_taken_) pthread_mutex_unlock(&turn);
  }

 private:
  static bool wait() noexcept {
    waits.fetch_add(1, std::memory_order_relaxed);
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kMaxWaitMs / 1000;
    return pthread_mutex_timedlock(&turn, &until) == 0;
  }

  // Waits up to kMaxWaitMs, as for a turn.
  static void wait_for_short_texts() noexcept {
    constexpr timespec kPause{0, 100'000};
    constexpr int kMaxPauses = kMaxWaitMs * 10;
    for (int i = 0; i < kMaxPauses && (writers.load(std::memory_order_relaxed) & ~kTurns) != 0; ++i)
      nanosleep(&kPause, nullptr);
  }

  bool is_counted_ = false;
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
    if (written == static_cast<ssize_t>(text.size())) [[likely]]
      return 0;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    // The program may have set RLIMIT_FSIZE meanwhile: one write stops at the limit, and the next would raise SIGXFSZ.
  }
  ScopedSignalBlock signals;
  std::optional<ScopedTurn> own_turn;
  if (blocks_signals && turns == Turns::take) own_turn.emplace(text.size());
  int const error = write_rest(descriptor, text);
  if (error == EPIPE) signals.discard(SIGPIPE);
  if (error == EFBIG) signals.discard(SIGXFSZ);
  return error;
}

std::uint32_t turn_waits() noexcept { return waits.load(std::memory_order_relaxed); }

int write_once(int descriptor, std::string_view text) noexcept { return write_all(descriptor, text, true); }

void append_error(TextBuffer& out, int error) noexcept {
  try {
    out.append(std::generic_category().message(error));
  } catch (...) {
    out.append("error ");
    out.append_int(error);
  }
}

}}}  // namespace tracing::v1::internal
