// A stack on which a thread handles signals, so that its own may overflow.
#pragma once

namespace testlog { inline namespace v1 {

/// Gives the calling thread a signal stack of 64 KiB until it ends, unless it has one already. Its pages take memory
/// when they are first used.
void ensure_signal_stack() noexcept;

}}  // namespace testlog::v1
