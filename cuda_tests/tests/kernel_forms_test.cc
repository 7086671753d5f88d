// Compares the PTX that the installed NVRTC makes of the kernels with the committed PTX, and with the list of forms
// that the executor's tests check.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "cuda_cpu/ptx/forms.h"
#include "cuda_cpu/ptx/parse.h"
#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/runtime/backend.h"
#include "tracing_core/cuda/compile.h"

namespace cuda_tests { namespace {

using Forms = std::set<std::string>;

constexpr char kRenew[] = "; tools/renew_ptx.sh renews the PTX";

std::string content_of(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "could not read " << path << kRenew;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns all files except matmul_instances.cu, which is for nvcc; NVRTC instantiates matmul.cu by name expressions.
std::vector<std::string> kernel_files() {
  std::vector<std::string> names;
  for (auto const& file : std::filesystem::directory_iterator(TESTLOG_TEST_DIR "/../kernels"))
    if (file.path().extension() == ".cu" && file.path().stem() != "matmul_instances")
      names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

// Returns the first line that differs, of each text; empty if the texts are equal.
std::string difference(std::string const& first, std::string const& second) {
  if (first == second) return "";
  auto const at = static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
  std::size_t const begin = first.substr(0, at).rfind('\n') + 1;
  auto const line = [&](std::string const& text) { return text.substr(begin, text.find('\n', at) - begin); };
  return line(first) + " / " + line(second);
}

// Returns the compiler of a PTX: "Cuda compilation tools, release 13.0, V13.0.88".
std::string release_of(std::string const& ptx) {
  auto const begin = ptx.find("Cuda compilation tools");
  return begin == ptx.npos ? "" : ptx.substr(begin, ptx.find('\n', begin) - begin);
}

// Returns the forms of a PTX. Fails if a kernel is refused; the refusal names the unsupported instruction and its line.
Forms forms_of(std::string const& ptx) {
  Forms forms;
  auto const parsed = cuda_cpu::ptx::parse(ptx);
  if (auto const* const diagnostic = std::get_if<cuda_cpu::ptx::Diagnostic>(&parsed)) {
    ADD_FAILURE() << diagnostic->to_string();
    return forms;
  }
  bool has_entry = false;
  for (auto const& function : std::get<0>(parsed)->functions()) {
    EXPECT_FALSE(function.refusal) << function.name << ": " << (function.refusal ? function.refusal->message : "");
    has_entry = has_entry || function.is_entry;
    for (auto const& instruction : function.instructions) forms.insert(instruction.form->name);
  }
  EXPECT_TRUE(has_entry);
  return forms;
}

std::string in_first_only(Forms const& first, Forms const& second) {
  std::string names;
  for (auto const& form : first)
    if (!second.contains(form)) names += ' ' + form;
  return names;
}

// The parameter is a target, with or without fast math, as in the name of the committed PTX: "75.fast".
class KernelForms : public testing::TestWithParam<char const*> {
 protected:
  void SetUp() override {
    static auto const& library = *new tracing::cuda::NvrtcLibrary(tracing::cuda::load_nvrtc());
    std::string why;
    if (!library || (cpu_ = Backend::cpu(why)) == nullptr) GTEST_SKIP() << library.explanation << why;
    if (!can_compile(library.api, arch(), cpu_->include_folders())) {
      GTEST_SKIP() << "NVRTC does not support " << arch() << ", or its headers are missing";
    }
  }

  std::string arch() const { return "compute_" + std::string(GetParam()).substr(0, 2); }

  std::string compiled(std::string const& name) const {
    tracing::cuda::CompileRequest request{.name = name + ".cu", .arch = arch()};
    request.source = content_of(TESTLOG_TEST_DIR "/../kernels/" + request.name);
    request.include_folders = cpu_->include_folders();
    if (std::string_view(GetParam()).ends_with("fast")) request.options = {"--use_fast_math"};
    for (FloatKind const kind : {FloatKind::F16, FloatKind::F32, FloatKind::F64}) {
      Kernel const matmul = matmul_kernel(kind);
      if (matmul.file == request.name) request.name_expressions.push_back(matmul.entry);
    }
    return cpu_->compiler().get(request)->ptx;
  }

  static std::string committed(std::string const& name, std::string const& variant) {
    return content_of(TESTLOG_TEST_DIR "/../../cuda_cpu/executor/testdata/" + name + "." + variant + ".ptx");
  }

  Backend* cpu_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Nvrtc, KernelForms, testing::Values("75", "75.fast", "90", "90.fast"), [](auto const& one) {
  std::string name = one.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

// Reads the list of coverage_test.cc: the first word of each line.
Forms checked_forms() {
  std::istringstream lines(content_of(TESTLOG_TEST_DIR "/../../cuda_cpu/executor/approved/forms.txt"));
  Forms forms;
  for (std::string line; std::getline(lines, line);) forms.insert(line.substr(0, line.find(' ')));
  return forms;
}

// The release that made the committed PTX must make equal PTX again; otherwise a kernel has changed. Another release
// may use other forms; then it is enough that each of them is supported and checked.
TEST_P(KernelForms, AreCheckedAndMatchTheCommittedPtx) {
  Forms const checked = checked_forms();
  for (auto const& name : kernel_files()) {
    SCOPED_TRACE(name + ".cu for " + GetParam());
    std::string const now = compiled(name), before = committed(name, GetParam());
    Forms const forms = forms_of(now), forms_before = forms_of(before);
    EXPECT_EQ(in_first_only(forms, checked), "")
        << "are not in executor/approved/forms.txt: they need a row in a table of values";
    if (release_of(now) != release_of(before)) continue;
    EXPECT_EQ(in_first_only(forms, forms_before), "") << "are only in the PTX of NVRTC" << kRenew;
    EXPECT_EQ(in_first_only(forms_before, forms), "") << "are only in the committed PTX" << kRenew;
    EXPECT_EQ(difference(now, before), "") << "is the PTX of NVRTC / the committed PTX" << kRenew;
  }
}

}}  // namespace cuda_tests
