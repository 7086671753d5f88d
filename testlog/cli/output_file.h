// Declares OutputFile, where a command writes what it made.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace testlog::cli {

/// A file, or standard output for `-`. A regular file, and one that is not there yet, is written beside, as
/// `name.<process>.part`, and takes its place in finish(): until then, and where something goes wrong or the process is killed,
/// an older one stays as it was. It keeps the older one's mode and, where this process may give it away, its owner; of a link
/// the file that it names is replaced. What is no file, such as a pipe, is written to as it is. What is written after an error
/// is dropped. One at a time: signals that end the process remove the file beside. Single-thread.
class OutputFile {
 public:
  explicit OutputFile(std::string const& path);
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;
  /// Without finish() an older file stays.
  ~OutputFile();

  /// Whether the file at `path` stays as it was until finish(), so that it can be read meanwhile. Not so what is no file, what
  /// /dev/stdout and its like name, a file that is mounted by itself, and one in a folder where this process can make none.
  static bool replaces(std::string const& path);

  void write(std::string_view text) noexcept;
  /// Closes it and puts it into its place. Returns the first error of all.
  std::error_code finish() noexcept;

 private:
  void open_beside();
  void give_up() noexcept;

  int file_ = -1;
  std::string target_;  // what finish() replaces; empty: nothing
  std::string part_;    // the file beside it; empty: there is none
  bool is_older_ = false;  // something stands at target_
  std::error_code error_;
};

}  // namespace testlog::cli
