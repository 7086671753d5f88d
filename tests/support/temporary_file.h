// TemporaryFile is a file for one test.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tracing_test {

/// Deleted by the destructor.
class TemporaryFile {
 public:
  TemporaryFile() { close(mkstemp(path_)); }
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  char const* path() const { return path_; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  char path_[32] = "/tmp/testlog_test_XXXXXX";
};

}  // namespace tracing_test
