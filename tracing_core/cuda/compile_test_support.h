// Declares what tests of compiling have in common: NVRTC, requests, and what is recorded, as text.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>

#include "tests/support/printed.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace tracing::cuda_test {

/// A test that needs NVRTC, and is skipped with a sentence where there is none.
class WithNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!library()) GTEST_SKIP() << library().explanation;
  }
  static cuda::NvrtcLibrary const& library() {
    static auto const& library = *new cuda::NvrtcLibrary(cuda::load_nvrtc());
    return library;
  }
  static cuda::NvrtcApi const& nvrtc() { return library().api; }
};

inline std::string read_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = ::testing::TempDir() + "tracing_cuda_XXXXXX";
    if (mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "no folder " << path;
    path_ = path;
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string const& path() const { return path_; }
  /// Writes a file with its folders; returns its path.
  std::string write(std::string const& name, std::string const& content) const {
    std::filesystem::path const file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::string path_;
};

/// One of the kernels of cuda_tests.
inline cuda::CompileRequest kernel(std::string const& name, std::string const& arch) {
  return {.name = name + ".cu",
          .source = read_file(std::string(TESTLOG_TEST_DIR) + "/../../cuda_tests/kernels/" + name + ".cu"),
          .arch = arch,
          .include_folders = {TRACING_CUDA_INCLUDE},
          .kernel_name = name,
          .no_cache = true};
}

/// What `f` records, spans with their fields as they close.
template <class F>
std::string recorded(F f) {
  tracing::PrintOptions options;
  options.format.timer = nullptr;
  options.format.file = false;
  options.format.line_number = false;
  options.span_events = SpanEvents::new_span | SpanEvents::close;
  return tracing_test::printed(std::move(options), f);
}

/// The same without what differs from run to run and from one NVRTC to the next: times, sizes, folders.
template <class F>
std::string traced(F f) {
  std::string text = recorded(f);
  text = std::regex_replace(text, std::regex(" time\\.busy=\\S+ time\\.idle=\\S+"), "");
  text = std::regex_replace(text, std::regex("((ptx|cubin|shared|spill)_bytes|registers)=[0-9]+"), "$1=<n>");
  text = std::regex_replace(text, std::regex("\"([A-Za-z+ ]+)\": [0-9.]+"), "\"$1\": <ms>");
  text = std::regex_replace(text, std::regex("-I[^\"]*include"), "-I<toolkit>");
  text = std::regex_replace(text, std::regex("\"[^\"]*tracing_cuda_[^\"/]*"), "\"<folder>");
  text = std::regex_replace(text, std::regex("[0-9a-f]{32}"), "<key>");
  return text;
}

}  // namespace tracing::cuda_test
