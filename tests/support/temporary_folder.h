// TemporaryFolder is a folder for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace tracing_test {

/// Deleted with everything in it by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char path[] = "/tmp/testlog_test_XXXXXX";
    path_ = mkdtemp(path);
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  /// Returns the path of a file in it.
  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }
  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }
  /// Returns the text of a file; empty if the file does not exist.
  std::string read(std::string_view name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace tracing_test
