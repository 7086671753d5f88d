// Checks that each form in the PTX of the kernels is supported and that a test compares its results with independent
// values.
//
// The second check needs all tests of this program to have run in one process: the CTest test cuda_cpu.forms, which
// sets CUDA_CPU_CHECK_FORMS.
#include <algorithm>
#include <filesystem>

#include "cuda_cpu/executor/decode.h"
#include "cuda_cpu/executor/checked_forms.h"
#include "cuda_cpu/executor/run_test_support.h"
#include "tests/approval.h"

namespace cuda_cpu {
namespace {

// Forms without a result to compare.
struct WithoutResult {
  std::string_view form;
  std::string_view why;
};
constexpr WithoutResult kWithoutResult[] = {
    {"membar.gl", "(orders accesses, which are in order on the host)"},
    {"trap", "(ends the kernel)"},
};

Forms forms_of_kernels() {
  Forms forms;
  for (auto const& file : std::filesystem::directory_iterator(TESTLOG_TEST_DIR "/testdata")) {
    if (file.path().extension() != ".ptx") continue;
    auto const parsed = ptx::parse(read_testdata(file.path().stem().string()));
    auto const* const module = std::get_if<0>(&parsed);
    if (module == nullptr) {
      ADD_FAILURE() << file.path() << ": " << std::get<1>(parsed).to_string();
      continue;
    }
    for (auto const& function : (*module)->functions()) {
      std::string const refusal = function.refusal ? function.refusal->message : "";
      EXPECT_EQ(refusal, "") << file.path() << ' ' << function.name;
      for (auto const& instruction : function.instructions) forms.insert(instruction.form->name);
    }
  }
  return forms;
}

TEST(Coverage, AllFormsOfTheKernelsAreSupported) { EXPECT_GT(forms_of_kernels().size(), 90u); }

TEST(Coverage, AllFormsHaveAHandler) {
  for (auto const* const form : ptx::all_forms()) EXPECT_NE(find_handler(*form), nullptr) << form->name;
}

// " FloatSemantics.RoundOnce HalfSemantics.FollowTheManual": the tests that check a form.
std::string tests_of(std::string const& form, CheckedForms const& checked) {
  std::string tests;
  for (auto const& [test, forms] : checked)
    if (forms.contains(form)) tests += ' ' + test;
  return tests;
}

// The forms of the kernels with the tests that check them; after an empty line the other forms that are checked, which
// another release of NVRTC may use for the kernels.
std::string list_of(Forms const& kernels, CheckedForms const& checked) {
  std::string list;
  for (auto const& form : kernels) {
    auto const* const excuse = std::ranges::find(kWithoutResult, form, &WithoutResult::form);
    std::string const tests =
        excuse == std::end(kWithoutResult) ? tests_of(form, checked) : " " + std::string(excuse->why);
    EXPECT_NE(tests, "")
        << form << " is in the PTX of the kernels, but no test checks its results: add a row to a table of values";
    list += form + tests + '\n';
  }
  list += '\n';
  Forms others;
  for (auto const& [test, forms] : checked) others.insert(forms.begin(), forms.end());
  for (auto const& form : others)
    if (!kernels.contains(form)) list += form + '\n';
  return list;
}

class FormsAreChecked : public testing::Environment {
 public:
  void TearDown() override {
    if (checked_forms() != nullptr)
      tracing::testing::expect_approved("forms.txt", list_of(forms_of_kernels(), *checked_forms()));
  }
};
[[maybe_unused]] auto* const forms_are_checked = testing::AddGlobalTestEnvironment(new FormsAreChecked);

}  // namespace
}  // namespace cuda_cpu
