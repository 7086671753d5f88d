// How the files of the TRACE_ variables are named and made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "tracing_core/internal/open_file.h"

namespace tracing::inline v1::internal {

/// `path` with this process for %p and for %t the test, by file_name_of().
std::string filled_in(std::string_view path, std::string_view test);

/// True for an existing folder and for a path that ends in `/`, which creates the folder.
bool is_folder(std::string const& path);

/// Whether a path that may contain %p and %t is a file's name as it is.
FileName name_kind(std::string_view path) noexcept;
/// True for a pipe or a device that is named in full.
bool is_no_file(std::string const& path, FileName name) noexcept;

struct UniqueFile {
  std::string path;
  int descriptor = -1;  ///< the caller's to close; negative if there is none
};
/// Creates an empty file: `path` or, if there is something of that name, `name.<process>.json` in place of `name.json`, or
/// `name.<process>.2.json` and so on. A pipe or device that is named in full is taken as it is. If no file can be
/// created, `error` says why.
UniqueFile create_unique_file(std::string const& path, FileName name, int flags, std::error_code& error);

/// A file that is complete or does not exist, named as create_unique_file() would name it: it is written as
/// `<path>.<process>.part` and then linked to its name, which needs a filesystem with hard links. Text after an error is
/// dropped. Single-thread.
class CompleteFile {
 public:
  explicit CompleteFile(std::string path, FileName name = FileName::given);
  CompleteFile(CompleteFile const&) = delete;
  CompleteFile& operator=(CompleteFile const&) = delete;
  /// Without finish() there is no file.
  ~CompleteFile();

  void write(std::string_view text) noexcept;
  /// Gives the file its name. Returns its path. On failure, `error` says why, and no file is left.
  std::string finish(std::error_code& error);

 private:
  std::string const path_;
  std::string part_;  // empty for a pipe or device, which is appended to
  int descriptor_ = -1;
  int error_ = 0;
};

/// The same with all of its content.
std::string create_complete_file(std::string const& path, std::string_view content, std::error_code& error,
                                 FileName name = FileName::given);

/// Why a file cannot be opened, for a report.
std::string why_not_opened(std::error_code const& error);
/// The report that the file of a variable cannot be opened.
std::string cannot_open(std::string const& variable, std::string const& path, std::error_code const& error);

/// Reports on `error_fd` that lines are missing in the file of a variable; nothing if `count` is 0. A negative
/// descriptor takes no report.
void report_missing_lines(int error_fd, std::string_view variable, std::string_view path, std::uint64_t count) noexcept;

}  // namespace tracing::inline v1::internal
