// A stack on which a thread handles signals, so that its own may overflow.
#pragma once

namespace testlog::inline v1 {

/// Gives the calling thread one until it ends, 64 KiB of which take memory when they are used, unless it has one already.
void ensure_signal_stack() noexcept;

}  // namespace testlog::inline v1
