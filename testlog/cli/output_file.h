// Declares OutputFile, where a command writes what it made.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace testlog::cli {

/// A file, or standard output for `-`. What is written after an error is dropped. Single-thread.
class OutputFile {
 public:
  explicit OutputFile(std::string const& path);
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;
  ~OutputFile();

  void write(std::string_view text) noexcept;
  /// Closes it. Returns the first error of all.
  std::error_code finish() noexcept;

 private:
  int file_ = -1;
  std::error_code error_;
};

}  // namespace testlog::cli
