// Opening files for writing. All that the library and its tools write is opened here, by one rule:
//
//   * a file that is created belongs to its user alone, mode 0600, from the first instant;
//   * no symbolic link is followed but those of the system in /dev and /proc, such as /dev/stdout;
//   * a pipe or a device is opened only if the user named it: the files that we name, in a folder or beside another one,
//     are regular ones of this user.
#pragma once

#include <cstdint>
#include <string>

namespace tracing::inline v1::internal {

/// Who chose the name of a file.
enum class FileName : bool {
  given,   ///< the user, in full
  formed,  ///< we: it is in a folder that the user named, or has the process or test in it. Others may have guessed it
};

// open(2) with O_CLOEXEC, retried when a signal interrupts it. Never returns descriptor 0, 1 or 2, so
// that what a program with closed standard streams prints does not land in the file. A symbolic link is an error, ELOOP,
// unless it is one of the system. Returns a negative number and sets errno on failure.
int open_file(char const* path, int flags) noexcept;

// Creates a file, for this user alone; EEXIST if there is something of that name. `flags` are for reading and writing.
int create_file(char const* path, int flags) noexcept;

// Opens a file to which lines are appended; creates it if there is none. A formed name must be that of a regular file of
// this user with no other name, else EEXIST.
int open_to_append(char const* path, FileName name) noexcept;

// Opens a file that begins empty. What has its name is unlinked first, so that a process that still writes to that
// does not write into the new one, and a link leads nowhere; a file that cannot be unlinked is truncated. A pipe or device is
// opened as it is.
int open_new_file(char const* path, int flags) noexcept;

// Creates the file `<path>.<process>.part`, or one of a shorter name if that would be too long, for text that gets the
// name `path` when it is complete. What has its name is unlinked first.
int create_part(std::string const& path, std::string& part);
std::string part_of(std::string const& path);

// True for a pipe, a device or a link of the system: something that is written to as it is.
bool is_special_file(char const* path) noexcept;

// Which file a descriptor is: its device and inode in one number. 0 if it is none. A program that closes all descriptors
// may get the same number for a file of its own. Async-signal-safe; changes errno.
std::uint64_t file_identity(int descriptor) noexcept;

}  // namespace tracing::inline v1::internal
