// Writing text to a descriptor in one piece, or in as few as the system allows.
#pragma once

#include <string_view>

namespace tracing::inline v1 {
class TextBuffer;
}

namespace tracing::inline v1::internal {

// Whether a failed write to `descriptor` may raise a signal: SIGPIPE of a pipe or socket, SIGXFSZ of a file while
// RLIMIT_FSIZE limits its size. Call it once for a descriptor, when it is opened.
bool may_raise_signal(int descriptor) noexcept;

// Whether a thread waits while another one writes. `skip` is for handlers of fatal signals, which must not wait.
enum class Turns : bool { take, skip };

// Writes all of `text` by one write(2), or more if the system takes only a part; `text` becomes the part that is not
// written. Returns 0 or an error number. Waits up to a second for room if the descriptor is non-blocking.
// `blocks_signals` keeps SIGPIPE and SIGXFSZ from the program, at the cost of two more system calls. Is no point at
// which pthread_cancel() ends the thread. Async-signal-safe. May change errno.
//
// The system may cut text of more than PIPE_BUF bytes (4096) for a pipe or socket into pieces, and let other threads
// write in between. So with `blocks_signals` threads take turns from the first such text on, whichever their
// descriptors. No thread waits for a turn for more than a second: the thread that would read the pipe may be the one
// that waits. A forked child finds the turn free. Text of other processes, and a line that was begun before that first
// text, may still come in between.
int write_all(int descriptor, std::string_view& text, bool blocks_signals, Turns turns = Turns::take) noexcept;
// The same for a single write to any descriptor: blocks the signals.
int write_once(int descriptor, std::string_view text) noexcept;

// Appends the meaning of an error number.
void append_error(TextBuffer& out, int error) noexcept;

}  // namespace tracing::inline v1::internal
