// Support for tests of compile(): NVRTC, requests, and records as text.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "tests/support/printed.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace tracing::cuda_test {

/// Skips its tests without NVRTC.
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

/// Makes a folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  std::string path() const { return folder_ / "."; }
  /// Writes a file, creates its folders, and returns its path.
  std::string write(std::string const& name, std::string const& content) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    return folder_.write(name, content);
  }

 private:
  tracing_test::TemporaryFolder folder_;
};

/// Returns the request for a kernel of cuda_tests.
inline cuda::CompileRequest kernel(std::string const& name, std::string const& arch) {
  return {.name = name + ".cu",
          .source = read_file(std::string(TESTLOG_TEST_DIR) + "/../../cuda_tests/kernels/" + name + ".cu"),
          .arch = arch,
          .include_folders = {TRACING_CUDA_INCLUDE},
          .kernel_name = name,
          .no_cache = true};
}

/// Returns the records of `f` as text; spans show their fields at their end.
template <class F>
std::string recorded(F f) {
  tracing::PrintOptions options;
  options.format.timer = nullptr;
  options.format.file = false;
  options.format.line_number = false;
  options.span_events = SpanEvents::new_span | SpanEvents::close;
  return tracing_test::printed(std::move(options), f);
}

/// Returns recorded(f) without the parts that depend on the run and on the version of NVRTC: times, sizes, folders.
template <class F>
std::string traced(F f) {
  std::string text = recorded(f);
  text = std::regex_replace(text, std::regex(" time\\.busy=\\S+ time\\.idle=\\S+"), "");
  text = std::regex_replace(text, std::regex("((ptx|cubin|shared|spill)_bytes|registers)=[0-9]+"), "$1=<n>");
  text = std::regex_replace(text, std::regex("duration_ms=[0-9.]+"), "duration_ms=<ms>");
  text = std::regex_replace(text, std::regex("-I[^\"]*include"), "-I<toolkit>");
  return text;
}

}  // namespace tracing::cuda_test
