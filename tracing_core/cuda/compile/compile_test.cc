#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/cuda/compile/compile_test_support.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda_test { namespace {

using cuda::CompiledKernel;
using cuda::CompileError;
using cuda::CompileRequest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::expect_approved;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Compile : public WithNvrtc {
 protected:
  // Returns the text of the error.
  static std::string failure(CompileRequest const& request, std::string* log = nullptr, nvrtcResult* code = nullptr) {
    try {
      cuda::compile(nvrtc(), request);
    } catch (CompileError const& e) {
      if (log != nullptr) *log = e.log();
      if (code != nullptr) *code = e.code();
      return e.what();
    }
    return "it compiled";
  }
};

CompileRequest of_source(std::string source, std::string arch = "compute_75") {
  return {.name = "k.cu", .source = std::move(source), .arch = std::move(arch), .no_cache = true};
}

TEST_F(Compile, MakesPtxAndMachineCode) {
  for (std::string const name :
       {"faults", "histogram", "identity", "reduce", "saxpy", "scan", "softmax", "transpose"}) {
    for (std::string const arch : {"compute_75", "compute_90", "sm_90"}) {
      CompiledKernel const result = cuda::compile(nvrtc(), kernel(name, arch));
      EXPECT_THAT(result.ptx, HasSubstr(".visible .entry ")) << name << arch;
      EXPECT_EQ(result.ptx.find('\0'), std::string::npos);
      if (arch == "sm_90") {
        EXPECT_THAT(result.cubin, StartsWith("\x7f"
                                             "ELF"))
            << name;
        EXPECT_THAT(result.usage, Not(IsEmpty())) << name;
      } else {
        EXPECT_EQ(result.cubin, "");
        EXPECT_THAT(result.usage, IsEmpty());
      }
    }
  }
}

TEST_F(Compile, ReportsTheResourcesOfAKernel) {
  CompiledKernel const result = cuda::compile(nvrtc(), kernel("transpose", "sm_90"));
  ASSERT_EQ(result.usage.size(), 1u);
  EXPECT_EQ(result.usage[0].name, "transpose");
  EXPECT_EQ(result.usage[0].shared_bytes, 32u * 33 * 4);
  EXPECT_GT(result.usage[0].registers, 0u);
}

TEST_F(Compile, LowersNameExpressionsInOrder) {
  CompileRequest request = kernel("matmul", "compute_75");
  request.name_expressions = {"matmul<float, 16>", "matmul<double, 8>", "matmul<__half, 16>"};
  CompiledKernel const result = cuda::compile(nvrtc(), request);
  EXPECT_THAT(result.lowered_names, ElementsAre("_Z6matmulIfLi16EEvPKT_S2_PS0_iii", "_Z6matmulIdLi8EEvPKT_S2_PS0_iii",
                                                "_Z6matmulI6__halfLi16EEvPKT_S3_PS1_iii"));
  for (std::string const& name : result.lowered_names) EXPECT_THAT(result.ptx, HasSubstr(".entry " + name));
}

TEST_F(Compile, SearchesHeadersInMemoryBeforeFolders) {
  CompileRequest request = of_source(
      "#include \"answer.h\"\n#include <cuda_fp16.h>\nextern \"C\" __global__ void k(int* x) { *x = kAnswer; }\n");
  request.headers = {{"answer.h", "constexpr int kAnswer = 42;"}, {"cuda_fp16.h", "constexpr int kEmpty = 0;"}};
  request.include_folders = {TRACING_CUDA_INCLUDE};
  EXPECT_THAT(cuda::compile(nvrtc(), request).ptx, HasSubstr("42;"));
}

// ---- records ----

TEST_F(Compile, RecordsASpan) {
  CompileRequest request = kernel("matmul", "sm_90");
  request.name_expressions = {"matmul<float, 16>"};
  request.options = {"-std=c++17"};
  request.headers = {{"unused.h", ""}};
  expect_approved("compile.txt", traced([&] { cuda::compile(nvrtc(), request); }));
}

TEST_F(Compile, RecordsTheSizesOfItsResult) {
  CompiledKernel result;
  std::string const text = recorded([&] { result = cuda::compile(nvrtc(), kernel("transpose", "sm_90")); });
  ASSERT_EQ(result.usage.size(), 1u);
  EXPECT_THAT(text, HasSubstr(fmt::format(" ptx_bytes={} cubin_bytes={} registers={} shared_bytes=4224 spill_bytes=0}}",
                                          result.ptx.size(), result.cubin.size(), result.usage[0].registers)));
}

TEST_F(Compile, RecordsMaximumRegistersAndTotalSpills) {
  CompileRequest request = of_source(R"(
extern "C" __global__ void small(float* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void spilling(float* x) {
  __shared__ float shared[25];
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = x[i * 32 + threadIdx.x];
  shared[threadIdx.x % 25] = v[0];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i * 32 + threadIdx.x] = v[i] * v[63 - i] + shared[i % 25];
}
)",
                                     "sm_90");
  request.options = {"--maxrregcount=24"};
  CompiledKernel result;
  std::string const text = recorded([&] { result = cuda::compile(nvrtc(), request); });
  ASSERT_EQ(result.usage.size(), 2u);
  auto const [small, spilling] = std::minmax(result.usage[0], result.usage[1], [](auto const& left, auto const& right) {
    return left.registers < right.registers;
  });
  EXPECT_EQ(small.name, "small");
  EXPECT_EQ(small.spill_store_bytes + small.spill_load_bytes, 0u);
  EXPECT_EQ(spilling.registers, 24u);
  EXPECT_EQ(spilling.shared_bytes, 100u);
  EXPECT_GT(spilling.spill_store_bytes, 0u);
  EXPECT_GT(spilling.spill_load_bytes, 0u);
  EXPECT_THAT(text, HasSubstr(fmt::format(" registers=24 shared_bytes=100 spill_bytes={}}}",
                                          spilling.spill_store_bytes + spilling.spill_load_bytes)));
}

TEST_F(Compile, NamesTheIdOfTheKernelInOneLineOnly) {
  CompileRequest request = of_source("extern \"C\" __global__ void k(float* x) { *x = nothing; }\n");
  request.kernel_id = "(\n    F16,\n    line_size: 16,\n)";
  std::string const text = traced([&] { failure(request); });
  EXPECT_THAT(text,
              HasSubstr("TRACE compile{kernel.name=\"k.cu\" arch=\"compute_75\" no_cache=true}: tracing::cuda_test: "
                        "Compiling kernel kernel.id=(\n"));
  EXPECT_EQ(text.find("line_size"), text.rfind("line_size")) << text;
}

TEST_F(Compile, ShowsTheSourceIfItIsWanted) {
  CompileRequest const request = of_source("extern \"C\" __global__ void k(int* x) {\n  *x = 1;\n}\n");
  auto const shown = [&](char const* wanted, FormatKind kind) {
    tracing::PrintOptions options;
    options.format = {.kind = kind, .value_sanitization = true, .timer = nullptr};
    setenv("TRACE_CUDA_SOURCE", wanted, 1);
    std::string text = tracing_test::printed(std::move(options), [&] { cuda::compile(nvrtc(), request); });
    unsetenv("TRACE_CUDA_SOURCE");
    return text;
  };
  EXPECT_THAT(
      shown("on", FormatKind::full),
      HasSubstr(
          "TRACE compile{kernel.name=\"k.cu\" arch=\"compute_75\" no_cache=true}: tracing::cuda_test: Kernel source:\n"
          "      extern \"C\" __global__ void k(int* x) {\n"
          "        *x = 1;\n"
          "      }\n"));
  EXPECT_THAT(shown("on", FormatKind::json),
              HasSubstr(R"("message":"Kernel source:\nextern \"C\" __global__ void k(int* x) {\n  *x = 1;\n}")"));
  EXPECT_THAT(shown("off", FormatKind::full), Not(HasSubstr("__global__")));
}

TEST_F(Compile, ReportsSuccessAtLevelDebug) {
  CompileRequest const request = of_source("extern \"C\" __global__ void k(float* x) { *x = 1; }\n", "sm_90");
  EXPECT_THAT(
      traced([&] { cuda::compile(nvrtc(), request); }),
      HasSubstr("\nDEBUG compile{kernel.name=\"k.cu\" arch=\"sm_90\" no_cache=true}: tracing::cuda_test: compiled "
                "duration_ms=<ms> ptx_bytes=<n> cubin_bytes=<n> registers=<n> shared_bytes=<n> "
                "spill_bytes=<n>\n"));
}

TEST_F(Compile, RecordsTheLogAsEvents) {
  auto const request = of_source(
      "#warning kernels ahead\n"
      "#pragma message \"as asked\"\n"
      "extern \"C\" __global__ void k(float* x, int n) {\n"
      "  int unused = 3;\n"
      "  x[n] = 1;\n"
      "}\n");
  expect_approved("compile_log.txt", traced([&] { cuda::compile(nvrtc(), request); }));
}

TEST_F(Compile, RecordsErrorsWithTheLineOfSource) {
  auto const request = of_source(
      "template <class T> struct Pair { typename T::nothing x; };\n"
      "extern \"C\" __global__ void k(float* x, int n) {\n"
      "  int unused = 3;\n"
      "  x[n] = undefined_symbol;\n"
      "  Pair<int> pair;\n"
      "}\n");
  std::string what;
  std::string log;
  nvrtcResult code{};
  expect_approved("compile_error.txt", traced([&] {
                    TRACE_SPAN(info, "outer");
                    what = failure(request, &log, &code);
                  }));
  EXPECT_EQ(what, "cannot compile k.cu: k.cu:4: identifier \"undefined_symbol\" is undefined (and 1 more)");
  EXPECT_EQ(code, NVRTC_ERROR_COMPILATION);
  EXPECT_THAT(log, AllOf(HasSubstr("k.cu(4): error"), HasSubstr("2 errors detected")));
}

TEST_F(Compile, RecordsErrorsOfPtxasWithTheLineOfPtx) {
  auto const request = of_source("extern \"C\" __global__ void k() { asm(\"bogus;\"); }\n", "sm_90");
  std::string const text = traced([&] { failure(request); });
  EXPECT_THAT(text, HasSubstr("Not a name of any known instruction: 'bogus' source.file=\"application ptx input\""));
  EXPECT_THAT(text, HasSubstr("source.text=\"bogus;\""));
}

TEST_F(Compile, IsThreadSafe) {
  std::vector<std::thread> threads;
  std::vector<CompiledKernel> results(4);
  for (CompiledKernel& result : results)
    threads.emplace_back([&] { result = cuda::compile(nvrtc(), kernel("saxpy", "compute_75")); });
  for (std::thread& thread : threads) thread.join();
  for (CompiledKernel const& result : results) EXPECT_EQ(result.ptx, results[0].ptx);
}

// ---- errors ----

TEST_F(Compile, ThrowsTheFirstError) {
  struct Case {
    CompileRequest request;
    nvrtcResult code;
    char const* what;
  };
  CompileRequest bad_option = of_source("");
  bad_option.options = {"-zzz"};
  CompileRequest unknown_name = of_source("");
  unknown_name.name_expressions = {"nope<3>"};
  Case const cases[] = {
      {of_source("#include \"nothing.h\"\n"), NVRTC_ERROR_COMPILATION, "k.cu:1: cannot open source file \"nothing.h\""},
      {of_source("__global__ void k() {"), NVRTC_ERROR_COMPILATION, "expected a \"}\""},
      {of_source("", "sm_12"), NVRTC_ERROR_INVALID_OPTION,
       "NVRTC_ERROR_INVALID_OPTION (5): invalid value for --gpu-architecture (-arch)"},
      {of_source("", ""), NVRTC_ERROR_INVALID_OPTION,
       "NVRTC_ERROR_INVALID_OPTION (5): invalid value for --gpu-architecture (-arch)"},
      {bad_option, NVRTC_ERROR_INVALID_OPTION, "NVRTC_ERROR_INVALID_OPTION (5): unrecognized option -zzz found"},
      {unknown_name, NVRTC_ERROR_COMPILATION, "__nv_name_map:2: identifier \"nope\" is undefined (and 2 more)"},
  };
  for (Case const& c : cases) {
    nvrtcResult code{};
    EXPECT_EQ(failure(c.request, nullptr, &code), std::string("cannot compile k.cu: ") + c.what);
    EXPECT_EQ(code, c.code);
  }
}

TEST_F(Compile, CompilesLargeSources) {
  std::string source = "extern \"C\" __global__ void k(int* x) {\n";
  for (int i = 0; source.size() < 1024 * 1024; ++i) source += "  // padding, line " + std::to_string(i) + "\n";
  EXPECT_EQ(failure(of_source(source + "  *x = 1;\n}\n")), "it compiled");
  EXPECT_THAT(failure(of_source(source + "  *x = y;\n}\n")), EndsWith(": identifier \"y\" is undefined"));
}

// ---- with a fake NVRTC ----

TEST(CompileWithFakeNvrtc, ExplainsThatTheBuiltinsLibraryIsMissing) {
  static constexpr char kLog[] =
      "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n  Make sure that libnvrtc-builtins.so.13.0 is "
      "installed correctly.";
  cuda::NvrtcApi api;
  api.version = [](int* major, int* minor) { return *major = 13, *minor = 0, NVRTC_SUCCESS; };
  api.get_error_string = [](nvrtcResult) -> char const* { return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"; };
  api.create_program = [](nvrtcProgram* program, char const*, char const*, int, char const* const*,
                          char const* const*) { return *program = reinterpret_cast<nvrtcProgram>(8), NVRTC_SUCCESS; };
  api.destroy_program = [](nvrtcProgram*) { return NVRTC_SUCCESS; };
  api.compile_program = [](nvrtcProgram, int, char const* const*) { return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE; };
  api.get_program_log_size = [](nvrtcProgram, size_t* size) { return *size = sizeof kLog, NVRTC_SUCCESS; };
  api.get_program_log = [](nvrtcProgram, char* log) {
    std::copy_n(kLog, sizeof kLog, log);
    return NVRTC_SUCCESS;
  };
  api.get_ptx_size = [](nvrtcProgram, size_t*) { return NVRTC_ERROR_INVALID_PROGRAM; };
  std::string what;
  expect_approved("compile_without_builtins.txt", traced([&] {
                    try {
                      cuda::compile(api, of_source("", "sm_90"));
                    } catch (CompileError const& e) {
                      what = e.what();
                    }
                  }));
  EXPECT_THAT(what, StartsWith("cannot compile k.cu: NVRTC_ERROR_BUILTIN_OPERATION_FAILURE (7): libnvrtc-builtins "
                               "must be beside libnvrtc or in a folder of LD_LIBRARY_PATH"));
}

}}  // namespace tracing::cuda_test
