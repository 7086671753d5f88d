// Opening files for writing.
#pragma once

#include <cstdint>

namespace tracing::inline v1::internal {

// open(2) with O_CLOEXEC, retried when a signal interrupts it. Never returns descriptor 0, 1 or 2, so
// that what a program with closed standard streams prints does not land in the file. Returns a negative number and sets
// errno on failure.
int open_file(char const* path, int flags, unsigned mode = 0666) noexcept;

// The same for a file that begins empty. A regular file of that name is unlinked first, so that a process that still
// writes to it does not write into the new one; if it cannot be unlinked or is a symbolic link, it is truncated.
int open_new_file(char const* path, int flags) noexcept;

// Which file a descriptor is: its device and inode in one number. 0 if it is none. A program that closes all descriptors
// may get the same number for a file of its own. Async-signal-safe; changes errno.
std::uint64_t file_identity(int descriptor) noexcept;

}  // namespace tracing::inline v1::internal
