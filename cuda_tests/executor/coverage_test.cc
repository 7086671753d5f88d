// Each form that the kernels' PTX has is supported, and tests compare what it gives with values computed otherwise; each form
// of the table has a handler.
//
// Which forms were checked is known once all tests of this program have run in one process: as the CTest test
// cuda_tests.forms, which sets CUDA_TESTS_CHECK_FORMS. Of a form counts what really ran, in a test that says so.
#include <algorithm>
#include <filesystem>

#include "cuda_tests/executor/decode.h"
#include "cuda_tests/executor/form_record.h"
#include "cuda_tests/executor/run_test_support.h"
#include "tests/approval.h"

namespace cuda_tests {
namespace {

// What has no value to compare, with the test that ran it and would fail.
struct WithoutValue {
  std::string_view form;
  std::string_view test;
  std::string_view why;
};
constexpr WithoutValue kWithoutValue[] = {
    {"membar.gl", "All/Kernels.ScanWaitsForTheBlocksBefore/75", "orders accesses, which are in order on the host"},
    {"trap", "Faults.TrapIsAnIllegalInstruction", "ends the kernel"},
};

FormRecord::Forms forms_of_kernels() {
  FormRecord::Forms forms;
  for (auto const& file : std::filesystem::directory_iterator(TESTLOG_TEST_DIR "/testdata")) {
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

TEST(Coverage, EachFormOfTheKernelsIsSupported) { EXPECT_GT(forms_of_kernels().size(), 90u); }

TEST(Coverage, EachFormOfTheTableHasAHandler) {
  for (auto const* const form : ptx::all_forms()) EXPECT_NE(find_handler(*form), nullptr) << form->name;
}

bool holds(std::map<std::string, FormRecord::Forms, std::less<>> const& by_test, std::string_view test, std::string_view form) {
  auto const found = by_test.find(test);
  return found != by_test.end() && found->second.contains(form);
}

// " FloatSemantics.RoundOnce HalfSemantics.AreThoseOfTheManual": the tests that check a form; empty where none does.
std::string tests_of(std::string const& form, FormRecord const& record) {
  std::string tests;
  for (auto const& [test, forms] : record.checked)
    if (forms.contains(form) && holds(record.ran, test, form)) tests += ' ' + test;
  return tests;
}

std::string why_without_value(std::string const& form, FormRecord const& record) {
  auto const* const found = std::ranges::find(kWithoutValue, form, &WithoutValue::form);
  if (found == std::end(kWithoutValue)) return "";
  EXPECT_TRUE(holds(record.ran, found->test, form)) << found->test << " did not run " << form;
  return " " + std::string(found->test) + ": " + std::string(found->why);
}

// The forms of the kernels, with the tests that check them. Then, behind an empty line, what else is checked: another release
// of NVRTC may make those of the kernels.
std::string list_of(FormRecord::Forms const& kernels, FormRecord const& record) {
  std::string list;
  for (auto const& form : kernels) {
    std::string const tests = tests_of(form, record), why = why_without_value(form, record);
    EXPECT_FALSE(tests.empty() && why.empty())
        << form << " is in the kernels' PTX, but no test compares what it gives: it needs a row in a table of values";
    EXPECT_TRUE(tests.empty() || why.empty()) << form << " is checked by" << tests << ", so it needs no excuse";
    list += form + tests + why + '\n';
  }
  list += '\n';
  FormRecord::Forms others;
  for (auto const& [test, forms] : record.checked) others.insert(forms.begin(), forms.end());
  for (auto const& form : others)
    if (!kernels.contains(form)) list += form + '\n';
  return list;
}

class FormsAreChecked : public testing::Environment {
 public:
  void TearDown() override {
    if (form_record() == nullptr) return;
    FormRecord const& record = *form_record();
    for (auto const& [test, forms] : record.checked) {
      for (auto const& form : forms) {
        EXPECT_TRUE(holds(record.ran, test, form)) << test << " says that it checks " << form << ", but did not run it";
      }
    }
    auto const kernels = forms_of_kernels();
    for (auto const& excuse : kWithoutValue) EXPECT_TRUE(kernels.contains(excuse.form)) << "no kernel has " << excuse.form;
    tracing::testing::expect_approved("forms.txt", list_of(kernels, record));
  }
};
[[maybe_unused]] auto* const forms_are_checked = testing::AddGlobalTestEnvironment(new FormsAreChecked);

}  // namespace
}  // namespace cuda_tests
