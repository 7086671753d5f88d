// Declares how text is written to a descriptor in one piece, or as few as the system allows, and without a SIGPIPE.
#pragma once

#include <string_view>

namespace tracing::inline v1 {
class TextBuffer;
}

namespace tracing::inline v1::internal {

// Writes all of `text`, going on where the system took only a part, and leaves in it what could not be written; 0, or why.
// Where a descriptor does not block, waits a second for room. Async-signal-safe; may change errno.
using WriteAll = int(int descriptor, std::string_view& text) noexcept;

// How to write to what `descriptor` is without a SIGPIPE or the SIGXFSZ that a limit on the size of files raises, which would
// end the program.
WriteAll* writing_to(int descriptor) noexcept;
// Writes in that way whatever the descriptor is, or becomes meanwhile: three times as slow.
int write_anywhere(int descriptor, std::string_view& text) noexcept;
// For those who write once.
int write_once(int descriptor, std::string_view text) noexcept;

// The same for a block, with SIGXFSZ blocked in any case: for those who write seldom.
int write_block(int descriptor, std::string_view text) noexcept;

// Appends what an error number means.
void append_error(TextBuffer& out, int error) noexcept;

}  // namespace tracing::inline v1::internal
