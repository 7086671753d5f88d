// Declares how files that are written to are opened.
#pragma once

namespace tracing::inline v1::internal {

// As open(2), which is not interrupted, for a new file with the mode that the user's mask leaves; closed in programs that are
// executed. Never 0, 1 or 2, which are free where a program's standard output was closed: what it prints would land in the
// file. Negative where it fails: errno says why.
int open_file(char const* path, int flags) noexcept;

// The same for a file that is to be made anew. One that is there gives way to it, with its mode and owner, so that a process
// that still writes to that one writes to a file without a name; where it cannot, and where it is no regular file or is reached
// by a symbolic link, it is emptied.
int open_new_file(char const* path, int flags) noexcept;

}  // namespace tracing::inline v1::internal
