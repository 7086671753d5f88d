// Names and makes the files of the TRACE_ variables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Returns `path` with the number of this process for %p, and file_name_of(test) for %t.
std::string filled_in(std::string_view path, std::string_view test);

/// Returns true for an existing folder, and for a path that ends in `/`, whose folder it creates.
bool is_folder(std::string const& path);

/// Returns FileName::given if the path contains neither %p nor %t, so that it is a file's name as it is.
FileName name_kind(std::string_view path) noexcept;
/// Returns true if `path` is a pipe or a device and contains neither %p nor %t.
bool is_no_file(std::string const& path, FileName name) noexcept;

struct UniqueFile {
  std::string path;
  int descriptor = -1;  ///< the caller closes it; negative if no file was created
};
/// Creates an empty file at `path`. If something has that name already, takes `name.<process>.json` in place of
/// `name.json`, then `name.<process>.2.json` and so on. Opens a pipe or device that is named in full as it is. If no
/// file can be created, sets `error` to the reason.
UniqueFile create_unique_file(std::string const& path, FileName name, int flags, std::error_code& error);

/// A file that is complete or does not exist. It gets the name that create_unique_file() would choose. The file is
/// written as `<path>.<process>.part` and then linked to its name, which needs a filesystem with hard links. Text after
/// an error is dropped. Single-thread.
class CompleteFile {
 public:
  explicit CompleteFile(std::string path, FileName name = FileName::given);
  CompleteFile(CompleteFile const&) = delete;
  CompleteFile& operator=(CompleteFile const&) = delete;
  /// Leaves no file, unless finish() was called.
  ~CompleteFile();

  void write(std::string_view text) noexcept;
  /// Gives the file its name and returns its path. On failure, sets `error` to the reason and leaves no file.
  std::string finish(std::error_code& error);

 private:
  std::string const path_;
  std::string part_;  // empty for a pipe or device, which is appended to
  int descriptor_ = -1;
  int error_ = 0;
};

/// Creates a CompleteFile with all of its content.
std::string create_complete_file(std::string const& path, std::string_view content, std::error_code& error,
                                 FileName name = FileName::given);

/// Returns the reason why a file cannot be opened, for a report.
std::string why_not_opened(std::error_code const& error);
/// Returns the report that the file of a variable cannot be opened.
std::string cannot_open(std::string const& variable, std::string const& path, std::error_code const& error);

/// Reports on `error_fd` that lines are missing in the file of a variable. Does nothing if `count` is 0 or the
/// descriptor is negative.
void report_missing_lines(int error_fd, std::string_view variable, std::string_view path, std::uint64_t count) noexcept;

}}}  // namespace tracing::v1::environment
