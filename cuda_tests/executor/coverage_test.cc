// Each form that the kernels' PTX has is supported, and something tests what it does; each form of the table has a handler.
#include <algorithm>
#include <filesystem>
#include <set>

#include "cuda_tests/executor/decode.h"
#include "cuda_tests/executor/run_test_support.h"

namespace cuda_tests {
namespace {

// What no table of values shows, by the tests that would fail.
constexpr std::string_view kByOtherTests[] = {"ld.", "st.", "atom.", "shfl.", "bar.", "membar.", "cvta.local.", "bra", "ret", "trap", "call"};

std::set<std::string> forms_of_kernels() {
  std::set<std::string> forms;
  for (auto const& file : std::filesystem::directory_iterator(TESTLOG_TEST_DIR "/testdata")) {
    auto const parsed = ptx::parse(read_testdata(file.path().stem().string()));
    auto const* const module = std::get_if<0>(&parsed);
    if (module == nullptr) {
      ADD_FAILURE() << file.path() << ": " << std::get<1>(parsed).to_string();
      continue;
    }
    for (auto const& function : (*module)->functions()) {
      EXPECT_FALSE(function.refusal) << file.path() << ' ' << function.name << ": " << (function.refusal ? function.refusal->message : "");
      for (auto const& instruction : function.instructions) forms.insert(instruction.form->name);
    }
  }
  return forms;
}

// The texts in which the tables of values name their forms.
std::string tables() {
  std::string text;
  for (std::string const name : {"float_semantics_test.cc", "integer_semantics_test.cc"}) {
    std::ifstream file(TESTLOG_TEST_DIR "/" + name);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

TEST(Coverage, EachFormOfTheKernelsIsTested) {
  std::string const text = tables();
  auto const forms = forms_of_kernels();
  EXPECT_GT(forms.size(), 90u);
  for (auto const& form : forms) {
    bool const elsewhere = std::ranges::any_of(kByOtherTests, [&](std::string_view begin) { return form.starts_with(begin); });
    EXPECT_TRUE(elsewhere || text.find("\"" + form + "\"") != text.npos) << form << " is supported, but nothing tests it";
  }
}

TEST(Coverage, EachFormOfTheTableHasAHandler) {
  for (auto const* const form : ptx::all_forms()) EXPECT_NE(find_handler(*form), nullptr) << form->name;
}

}  // namespace
}  // namespace cuda_tests
