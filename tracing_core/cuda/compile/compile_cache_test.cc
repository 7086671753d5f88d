#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/cuda/compile/compile_internal.h"
#include "tracing_core/cuda/compile/compile_test_support.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda_test { namespace {

using cuda::CompileCache;
using cuda::CompiledKernel;
using cuda::CompileError;
using cuda::CompileRequest;
using testing::expect_approved;
using ::testing::HasSubstr;

// Fakes an NVRTC that returns the source as PTX and counts compilations. The source `bad` does not compile.
class FakeNvrtc {
 public:
  FakeNvrtc() {
    compiled_ = 0;
    api.version = [](int* major, int* minor) { return *major = 13, *minor = 0, NVRTC_SUCCESS; };
    api.get_error_string = [](nvrtcResult) -> char const* { return "NVRTC_ERROR_COMPILATION"; };
    api.create_program = [](nvrtcProgram* program, char const* source, char const*, int, char const* const*,
                            char const* const*) {
      return *program = reinterpret_cast<nvrtcProgram>(new std::string(source)), NVRTC_SUCCESS;
    };
    api.destroy_program = [](nvrtcProgram* program) { return delete &text(*program), NVRTC_SUCCESS; };
    api.add_name_expression = [](nvrtcProgram, char const*) { return NVRTC_SUCCESS; };
    api.compile_program = [](nvrtcProgram program, int, char const* const*) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++compiled_;
      return text(program) == "bad" ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    };
    api.get_program_log_size = [](nvrtcProgram, size_t* size) { return *size = 0, NVRTC_SUCCESS; };
    api.get_ptx_size = [](nvrtcProgram program, size_t* size) {
      return *size = text(program).size() + 1, NVRTC_SUCCESS;
    };
    api.get_ptx = [](nvrtcProgram program, char* ptx) {
      std::copy_n(text(program).c_str(), text(program).size() + 1, ptx);
      return NVRTC_SUCCESS;
    };
    api.get_cubin_size = [](nvrtcProgram, size_t* size) { return *size = 0, NVRTC_SUCCESS; };
  }
  static int compiled() { return compiled_; }

  cuda::NvrtcApi api;

 private:
  static std::string& text(nvrtcProgram program) { return *reinterpret_cast<std::string*>(program); }
  static inline std::atomic<int> compiled_ = 0;
};

class CompileCacheTest : public ::testing::Test {
 protected:
  std::string key(CompileRequest const& request) { return cuda::internal::compile_key(fake_.api, request).hex; }

  FakeNvrtc fake_;
  TemporaryFolder folder_;
};

TEST_F(CompileCacheTest, CompilesARequestOnce) {
  CompileCache cache(fake_.api);
  auto const first = cache.get({.source = "x"});
  EXPECT_EQ(first->ptx, "x");
  EXPECT_EQ(cache.get({.source = "x"}), first);
  EXPECT_EQ(cache.get({.source = "y"})->ptx, "y");
  EXPECT_EQ(fake_.compiled(), 2);
  cache.clear();
  EXPECT_EQ(cache.get({.source = "x"})->ptx, "x");
  EXPECT_EQ(fake_.compiled(), 3);
  EXPECT_EQ(cache.counts().hits(), 1u);
  EXPECT_EQ(cache.counts().misses, 3u);
}

TEST_F(CompileCacheTest, KeyDependsOnAllThatChangesTheResult) {
  CompileRequest const plain{.source = "#include \"h.h\"\n", .include_folders = {folder_.path()}};
  struct Case {
    char const* what;
    std::function<void(CompileRequest&)> change;
  };
  Case const cases[] = {
      {"source", [](auto& r) { r.source += " "; }},
      {"name", [](auto& r) { r.name = "other.cu"; }},
      {"architecture", [](auto& r) { r.arch = "sm_90"; }},
      {"options", [](auto& r) { r.options = {"-G"}; }},
      {"boundaries of options",
       [](auto& r) {
         r.options = {"-", "G"};
       }},
      {"name expressions", [](auto& r) { r.name_expressions = {"k<1>"}; }},
      {"folders", [](auto& r) { r.include_folders.push_back("/nowhere"); }},
      {"names of headers",
       [](auto& r) {
         r.headers = {{"a.h", ""}};
       }},
      {"headers",
       [](auto& r) {
         r.headers = {{"a.h", "int x;"}};
       }},
  };
  std::vector<std::string> keys{key(plain)};
  EXPECT_EQ(key(plain), keys[0]);
  for (Case const& c : cases) {
    CompileRequest changed = plain;
    c.change(changed);
    EXPECT_THAT(keys, ::testing::Not(::testing::Contains(key(changed)))) << c.what;
    keys.push_back(key(changed));
  }
  CompileRequest other_label = plain;
  other_label.kernel_name = "name in the span";
  other_label.kernel_id = "id in an event";
  other_label.no_cache = true;
  EXPECT_EQ(key(other_label), keys[0]) << "these do not change the result";

  folder_.write("h.h", "#include \"deep.h\"\n");
  EXPECT_NE(key(plain), keys[0]) << "a new file";
  std::string const with_file = key(plain);
  folder_.write("deep.h", "int x;");
  std::string const with_two = key(plain);
  EXPECT_NE(with_two, with_file) << "a file included by a file";
  folder_.write("deep.h", "int y;");
  EXPECT_NE(key(plain), with_two) << "its content";
  folder_.write("deep.h", "int x;");
  EXPECT_EQ(key(plain), with_two);
  setenv("NVRTC_APPEND_FLAGS", "-G", 1);
  EXPECT_EQ(key(plain), "") << "options of the environment are not looked into";
  unsetenv("NVRTC_APPEND_FLAGS");
  fake_.api.version = [](int* major, int* minor) { return *major = 12, *minor = 9, NVRTC_SUCCESS; };
  EXPECT_NE(key(plain), with_two) << "NVRTC's version";
}

TEST_F(CompileCacheTest, DoesNotCacheIfTheFilesAreUnknown) {
  CompileCache cache(fake_.api, {.folder = folder_.path()});
  CompileRequest const computed{.source = "#define H <a.h>\n#include H\n"};
  CompileRequest const with_files{.source = "x", .options = {"-time=/tmp/t.csv"}};
  expect_approved("cache_none.txt", traced([&] {
                    for (int i = 0; i < 2; ++i) cache.get(computed);
                    cache.get(with_files);
                  }));
  EXPECT_EQ(fake_.compiled(), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(CompileCacheTest, DoesNotCacheFailures) {
  CompileCache cache(fake_.api);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(cache.get({.source = "bad"}), CompileError);
  EXPECT_EQ(fake_.compiled(), 2);
  EXPECT_EQ(cache.get({.source = "good"})->ptx, "good");
}

TEST_F(CompileCacheTest, CountsHitsAndMissesOfEachKind) {
  CompileCache(fake_.api, {.folder = folder_.path()}).get({.source = "kept"});
  CompileCache cache(fake_.api, {.folder = folder_.path()});
  for (int i = 0; i < 3; ++i) cache.get({.source = "kept"});
  cache.get({.source = "new"});
  EXPECT_THROW(cache.get({.source = "bad"}), CompileError);
  cache.get({.source = "#define H <a.h>\n#include H\n"});
  EXPECT_EQ(cache.counts().disk_hits, 1u);
  EXPECT_EQ(cache.counts().memory_hits, 2u);
  EXPECT_EQ(cache.counts().hits(), 3u);
  EXPECT_EQ(cache.counts().misses, 3u) << "new, failed and not cacheable";
}

TEST_F(CompileCacheTest, ThreadsWaitForOneCompilation) {
  CompileCache cache(fake_.api);
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(cache.get({.source = "x"})->ptx, "x");
      try {
        cache.get({.source = "bad"});
      } catch (CompileError const&) {
        ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.counts().memory_hits, 7u);
  EXPECT_EQ(failed, 8);
  EXPECT_EQ(fake_.compiled(), 1 + 8);
}

TEST_F(CompileCacheTest, RecordsWhereAKernelComesFrom) {
  CompileRequest const request{.name = "k.cu", .source = "x", .kernel_name = "identity"};
  expect_approved("cache.txt", traced([&] {
                    TRACE_SPAN(trace, "launch_inner");
                    {
                      CompileCache cache(fake_.api, {.folder = folder_.path()});
                      cache.get(request);
                      cache.get(request);
                    }
                    CompileCache(fake_.api, {.folder = folder_.path()}).get(request);
                  }));
  EXPECT_EQ(fake_.compiled(), 1);
}

// ---- the folder ----

TEST_F(CompileCacheTest, ReplacesADamagedFile) {
  std::string const folder = folder_.path() + "/made/with/the/first";
  CompileRequest const request{.name = "k.cu", .source = "x"};
  CompileCache(fake_.api, {.folder = folder}).get(request);
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::string const file = std::filesystem::directory_iterator(folder)->path();
  std::string const complete = read_file(file);
  std::ofstream(file, std::ios::binary) << complete.substr(0, complete.size() / 2);
  CompileCache(fake_.api, {.folder = folder}).get(request);
  EXPECT_EQ(fake_.compiled(), 2);
  EXPECT_EQ(read_file(file), complete);
}

TEST_F(CompileCacheTest, WorksIfTheFolderCannotBeWritten) {
  std::string const no_folder = folder_.write("file", "");
  CompileCache cache(fake_.api, {.folder = no_folder + "/folder"});
  std::string const text = traced([&] { EXPECT_EQ(cache.get({.source = "x"})->ptx, "x"); });
  EXPECT_THAT(text, HasSubstr("WARN tracing::cuda_test: could not write to the compile cache: Not a directory"));
}

TEST_F(CompileCacheTest, ProcessesShareAFolder) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int wrong = 0;
      for (int k = 0; k < 10; ++k) {
        std::string const source = "kernel " + std::to_string(k);
        if (CompileCache(fake_.api, {.folder = folder_.path()}).get({.source = source})->ptx != source) ++wrong;
      }
      _exit(wrong);
    }
    children.push_back(child);
  }
  for (pid_t const child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  CompileCache cache(fake_.api, {.folder = folder_.path()});
  for (int k = 0; k < 10; ++k) cache.get({.source = "kernel " + std::to_string(k)});
  EXPECT_EQ(cache.counts().disk_hits, 10u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 10)
      << "temporary files were removed";
}

CompiledKernel example() {
  return {.ptx = ".version 9.0",
          .cubin = {"\x7f"
                    "ELF\0\1",
                    6},
          .lowered_names = {"_Z1kv", ""},
          .usage = {{.name = "k", .registers = 10}},
          .log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 10 registers\n"};
}

TEST(KernelFile, ReadsBackWhatWasWritten) {
  for (CompiledKernel const& kernel : {CompiledKernel(), example()})
    EXPECT_EQ(cuda::internal::from_bytes(cuda::internal::to_bytes(kernel)), kernel);
}

TEST(KernelFile, RefusesDamagedBytes) {
  std::string const bytes = cuda::internal::to_bytes(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 4);
    EXPECT_FALSE(cuda::internal::from_bytes(broken)) << i;
    EXPECT_FALSE(cuda::internal::from_bytes(bytes.substr(0, i))) << i;
  }
  EXPECT_FALSE(cuda::internal::from_bytes(bytes + "x"));
}

// ---- with NVRTC ----

class CompileCacheWithNvrtc : public WithNvrtc {};

TEST_F(CompileCacheWithNvrtc, ReturnsTheSameFromMemoryAndDisk) {
  TemporaryFolder folder;
  CompileRequest request = kernel("identity", "sm_90");
  CompileCache cache(nvrtc(), {.folder = folder.path()});
  auto const compiled = cache.get(request);
  EXPECT_EQ(cache.get(request), compiled);
  CompileCache later(nvrtc(), {.folder = folder.path()});
  EXPECT_EQ(*later.get(request), *compiled);
  EXPECT_EQ(later.counts().disk_hits, 1u);
}

TEST_F(CompileCacheWithNvrtc, NoticesAChangedHeader) {
  TemporaryFolder folder;
  CompileRequest const request{
      .source = "#include \"answer.h\"\nextern \"C\" __global__ void k(int* x) { *x = kAnswer; }\n",
      .include_folders = {folder.path()}};
  CompileCache cache(nvrtc());
  folder.write("answer.h", "constexpr int kAnswer = 42;");
  EXPECT_THAT(cache.get(request)->ptx, HasSubstr("42;"));
  folder.write("answer.h", "constexpr int kAnswer = 43;");
  EXPECT_THAT(cache.get(request)->ptx, HasSubstr("43;"));
}

}}  // namespace tracing::cuda_test
