// write_all(): writes text to a descriptor in one piece, or in as few pieces as the system allows.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {
class TextBuffer;
}}  // namespace tracing::v1

namespace tracing { inline namespace v1 { namespace internal {

// Returns true if a failed write to `descriptor` may raise a signal: SIGPIPE for a pipe or socket, SIGXFSZ for a file
// while RLIMIT_FSIZE limits its size. Call it once for a descriptor, when it is opened.
bool may_raise_signal(int descriptor) noexcept;

// Says if a thread waits while another thread writes. `skip` is for handlers of fatal signals, which must not wait, and
// for files of our own, which no other thread writes to.
enum class Turns : bool { take, skip };

// Writes all of `text` by one write(2), or more if the system takes only a part; `text` becomes the part that is not
// written. Returns 0 or an error number. Waits up to a second for room if the descriptor is non-blocking.
// `blocks_signals` keeps SIGPIPE and SIGXFSZ from the program, at the cost of two more system calls. pthread_cancel()
// does not end a thread in this function. Async-signal-safe. May change errno.
//
// The system may cut text of more than PIPE_BUF bytes (4096) for a pipe or socket into pieces, and let other threads
// write in between. So, with `blocks_signals`, all threads take turns from the first such text on, whichever
// descriptors they use. No thread waits for its turn longer than a second, since it may itself be the thread that is to
// read the pipe. A forked child finds the turn free. Text of other processes, and a line that was begun before that
// first text, may still come in between.
int write_all(int descriptor, std::string_view& text, bool blocks_signals, Turns turns = Turns::take) noexcept;
// Returns how many times a thread of this process had to wait for its turn, for tests. Thread-safe.
std::uint32_t turn_waits() noexcept;
// Calls write_all() with the signals blocked, for a single write to any descriptor.
int write_once(int descriptor, std::string_view text) noexcept;

// Appends the meaning of an error number.
void append_error(TextBuffer& out, int error) noexcept;

}}}  // namespace tracing::v1::internal
