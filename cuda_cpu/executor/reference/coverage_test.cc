// Checks that each form in the PTX of the kernels is supported and that a test compares its results with independent
// values.
//
// The second check needs all tests of this program to have run in one process: the CTest test cuda_cpu.forms, which
// sets CUDA_CPU_CHECK_FORMS.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <random>

#include "cuda_cpu/executor/machine/decode.h"
#include "cuda_cpu/executor/reference/apply_form.h"
#include "cuda_cpu/executor/reference/checked_forms.h"
#include "cuda_cpu/executor/reference/reference.h"
#include "cuda_cpu/executor/reference/run_test_support.h"
#include "tests/approval.h"
#include "tests/support/campaign.h"

namespace cuda_cpu { namespace {

// A form that has no result to compare, and the reason.
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

// Returns operands for a form: values at the ends of ranges, infinities, NaNs, and others. A source that is a number in
// the text has one value in all cases.
std::vector<std::vector<std::uint64_t>> random_cases(std::vector<ptx::OperandSpec> const& sources) {
  static constexpr std::uint64_t kSpecial[] = {0,
                                               1,
                                               ~std::uint64_t{0},
                                               0x8000000080008000,
                                               0x7fffffff7fff7fff,
                                               0x7f8000007c007f80,
                                               0xff8000007fc17f81,
                                               0x3ff0000000000000,
                                               0x3f8000003c003f80,
                                               0x7ff0000000000000,
                                               0xfff8000000000001,
                                               0x0010000000800080,
                                               0x43e000004f004f00};
  std::mt19937_64 random(77);
  std::vector<std::vector<std::uint64_t>> cases(256);
  for (auto& one : cases) {
    for (auto const& spec : sources) {
      std::uint64_t value = random();
      if (value % 4 == 0)
        value = kSpecial[value / 4 % std::size(kSpecial)];
      else if (value % 4 == 1)
        value >>= random() % 64;
      if (spec.role == ptx::OperandRole::immediate) value = 0x96;
      if (spec.role == ptx::OperandRole::predicate) value &= 1;
      one.push_back(value);
    }
  }
  return cases;
}

// Compares results. The bits of a NaN of 64 bits are unspecified, so two such NaNs are equal.
bool is_same(ptx::Form const& form, std::uint64_t a, std::uint64_t b) {
  ptx::Type const type = form.operands[0].type;
  if (type == ptx::Type::f64 && std::isnan(std::bit_cast<double>(a))) return std::isnan(std::bit_cast<double>(b));
  unsigned const bytes = ptx::size_bytes(type);
  return ((a ^ b) & (bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1)) == 0;
}

bool is_comparable(ptx::Form const& form) {
  bool const has_address =
      std::ranges::find(form.operands, ptx::OperandRole::address, &ptx::OperandSpec::role) != form.operands.end();
  return !has_address && !reference::sources_of(form).empty() && reference::supports(form);
}

// Runs the cases in full warps.
void compare_with_reference(ptx::Form const& form, bool listed) {
  auto const cases = random_cases(reference::sources_of(form));
  std::vector<std::uint64_t> second;
  auto const results = apply_form(form.name, cases, &second, listed);
  auto const role = form.operands[0].role;
  bool const two = role == ptx::OperandRole::set_predicates;
  bool const is_predicate = two || role == ptx::OperandRole::set_predicate;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto const expected = reference::outcome_of(form, cases[i], false);
    bool const same = !is_predicate ? is_same(form, results[i], expected->value)
                                    : results[i] == (expected->first ? 1u : 0u) &&
                                          (!two || second[i] == (expected->second ? 1u : 0u));
    ASSERT_TRUE(same) << form.name << std::hex << ' ' << cases[i][0] << ": " << results[i] << ", the reference has "
                      << expected->value << ' ' << expected->first << expected->second;
  }
}

TEST(Coverage, ScalarFormsOfTheKernelsAgreeWithTheReference) {
  int compared = 0;
  for (auto const& name : forms_of_kernels()) {
    if (!is_comparable(*ptx::find_form(name))) continue;
    compare_with_reference(*ptx::find_form(name), true);
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

// Runs a sample of the forms that the reference knows, or all of them in a full campaign.
TEST(Coverage, ScalarFormsAgreeWithTheReference) {
  std::size_t known = 0;
  for (auto const* const form : ptx::all_forms()) {
    if (!is_comparable(*form)) continue;
    if (++known % tracing_test::campaign<std::size_t>(1, 4) == 0) compare_with_reference(*form, false);
    if (HasFailure()) return;
  }
  EXPECT_GT(known, 5000u);
}

// Returns the tests that check a form: " FloatSemantics.RoundOnce HalfSemantics.FollowTheManual".
std::string tests_of(std::string const& form, CheckedForms const& checked) {
  std::string tests;
  for (auto const& [test, forms] : checked)
    if (forms.contains(form)) tests += ' ' + test;
  return tests;
}

// Returns the forms of the kernels with the tests that check them, an empty line, and then the other forms that are
// checked, which another release of NVRTC may use for the kernels.
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

}}  // namespace cuda_cpu
