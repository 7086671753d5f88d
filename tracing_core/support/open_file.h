// Opens files for writing. The library and its tools open every file that they write through these functions, which
// keep these rules:
//
// * a file that is created belongs to its user alone, mode 0600, from the first instant;
// * symbolic links are not followed, except the system's links in /dev and /proc, such as /dev/stdout;
// * a pipe or a device is opened only if the user named it: a file whose name the library forms, in a folder or beside
//   another file, must be a regular file of this user.
#pragma once

#include <cstdint>
#include <string>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Says who chose the name of a file.
enum class FileName : bool {
  given,   ///< the user gave the full name
  formed,  ///< the library formed it from a folder, the process or the test, so others may have guessed it
};

// Calls open(2) with O_CLOEXEC, again if a signal interrupts it. Never returns descriptor 0, 1 or 2, so that text which
// a program with closed standard streams prints does not land in the file. Fails with ELOOP for a symbolic link that is
// not the system's. Returns a negative number and sets errno on failure.
int open_file(char const* path, int flags) noexcept;

// Calls open_file(). Fails with EEXIST unless the file is a regular file of this user with no other name.
int open_own(char const* path, int flags) noexcept;

// Creates a file that only this user may access. Fails with EEXIST if the name is taken. `flags` say whether to read,
// write or both.
int create_file(char const* path, int flags) noexcept;

// Opens a file for appending lines, and creates it if it does not exist. If the library formed the name, fails with
// EEXIST unless the file is a regular file of this user with no other name.
int open_to_append(char const* path, FileName name) noexcept;

// Opens an empty file. Unlinks an existing file of this name first, so that a process which still writes to the old
// file does not write into the new one, and a link leads nowhere. Truncates a file that cannot be unlinked. Opens a
// pipe or a device as it is.
int open_new_file(char const* path, int flags) noexcept;

// Creates the file `<path>.<process>.part`, with the name cut if it would be too long, and stores its name in `part`.
// Its text gets the name `path` when it is complete. Unlinks an existing file of this name first.
int create_part(std::string const& path, std::string& part);
std::string part_of(std::string const& path);

// True for a pipe, a device or a link of the system: it is opened unchanged and never replaced.
bool is_special_file(char const* path) noexcept;

// Returns the device and inode of an open file, combined into one number; 0 if the descriptor is not open. A program
// that closes all descriptors may get the same descriptor for its own file; this number tells the files apart.
// Async-signal-safe; changes errno.
std::uint64_t file_identity(int descriptor) noexcept;

}}}  // namespace tracing::v1::support
