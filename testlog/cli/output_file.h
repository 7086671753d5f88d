// OutputFile: the file that a command writes; and functions for the files that it reads.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/support/open_file.h"

namespace testlog::cli {

/// Writes a file as `name.<process>.part` in its folder, for its user alone, and renames it in finish(). Until then,
/// and if anything goes wrong, an older file of this name stays as it was. `-` is standard output. Standard output, and
/// a pipe or device that the user named, are written to directly. Text is written in pieces of 64 KiB, and dropped
/// after an error. Single-thread.
class OutputFile {
 public:
  explicit OutputFile(std::string const& path, tracing::support::FileName name = tracing::support::FileName::given);
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;
  /// Closes the file. Without finish(), an older file stays, and standard output, a pipe or a device has all text.
  ~OutputFile();

  /// Returns true if finish() replaces the file at `path`, so that it can be read until then.
  static bool replaces(std::string const& path) noexcept;

  void write(std::string_view text) noexcept;
  /// Closes the file and gives it its name. Returns the first error.
  std::error_code finish() noexcept;

 private:
  void write_out(std::string_view text) noexcept;
  void flush() noexcept;

  std::string const target_;
  std::string part_;  // the file to be renamed; empty if the output is written to directly
  int file_ = -1;
  std::string waiting_;  // text that is not written yet; never reallocated
  std::error_code error_;
};

/// Opens an input: a path, or `-` for standard input. Returns a descriptor, or a negative number and sets errno.
int open_input(std::string const& path) noexcept;
std::string name_of_input(std::string const& path);
/// Returns true if the output at `path` is the input.
bool is_same_file(std::string const& input, std::string const& path) noexcept;

}  // namespace testlog::cli
