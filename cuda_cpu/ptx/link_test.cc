#include "cuda_cpu/ptx/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/parse.h"
#include "cuda_cpu/ptx/ptxas.h"

namespace cuda_cpu::ptx { namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string const kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

// Returns the result of linking units that lack their headers: the text after the result's header, or "error: " and the
// message. Each text is also checked by our parser, and by ptxas if it is installed.
std::string linked(std::initializer_list<std::string> units) {
  std::vector<std::string> texts;
  for (auto const& unit : units) texts.push_back(kHeader + unit);
  std::vector<std::string_view> const views(texts.begin(), texts.end());
  auto const result = link(views);
  if (auto const* const error = std::get_if<LinkError>(&result)) return "error: " + error->message;
  auto const& text = std::get<0>(result);
  auto const parsed = parse(text);
  auto const* const diagnostic = std::get_if<Diagnostic>(&parsed);
  EXPECT_EQ(diagnostic != nullptr ? diagnostic->to_string() : "", "") << text;
  EXPECT_EQ(has_ptxas() ? ptxas_errors(text) : "", "") << text;
  EXPECT_TRUE(text.starts_with(kHeader)) << text;
  return text.substr(kHeader.size());
}

// Returns the reason why the entry `k` of linked units cannot be run; empty if it can.
std::string refusal(std::initializer_list<std::string> units) {
  auto const parsed = parse(kHeader + linked(units));
  if (!std::holds_alternative<std::shared_ptr<Module const>>(parsed)) return "no module";
  auto const* const entry = std::get<0>(parsed)->find_entry("k");
  if (entry == nullptr) return "no entry";
  return entry->refusal ? entry->refusal->message : "";
}

TEST(Link, OneUnitStaysAsItIs) {
  std::string const text = "not even PTX";
  std::string_view const unit = text;
  EXPECT_EQ(std::get<0>(link({&unit, 1})), text);
}

TEST(Link, AnExternFunctionBecomesTheDefinitionOfAnotherUnit) {
  EXPECT_EQ(linked({".extern .func f\n(\n.param .b32 a\n)\n;\n"
                    ".visible .entry k() { .param .b32 x; st.param.b32 [x], 1; call f, (x); ret; }",
                    ".visible .func f(.param .b32 a)\n{\n\tret; // done\n}"}),
            ".visible .func f\n(\n.param .b32 a\n)\n;\n"
            ".visible .entry k() { .param .b32 x; st.param.b32 [x], 1; call f, (x); ret; }\n"
            ".visible .func f(.param .b32 a)\n{\n\tret; // done\n}\n");
}

TEST(Link, UnitsMayReferToEachOther) {
  EXPECT_EQ(refusal({".extern .func g; .visible .func f { ret; } .visible .entry k() { call g; ret; }",
                     ".extern .func f; .visible .func g { call f; ret; }"}),
            "");
}

TEST(Link, ADeclarationMayComeAfterItsDefinition) {
  EXPECT_EQ(refusal({".visible .func f { ret; }", ".extern .func f; .visible .entry k() { call f; ret; }"}), "");
}

TEST(Link, AnExternVariableBecomesTheDefinitionOfAnotherUnit) {
  EXPECT_EQ(linked({".extern .global .align 4 .u32 g;\n.visible .entry k() { .reg .b32 %r1; ld.global.u32 %r1, [g]; }",
                    ".visible .global .align 4 .u32 g = 5;"}),
            ".visible .global .align 4 .u32 g = 5;\n"
            ".visible .entry k() { .reg .b32 %r1; ld.global.u32 %r1, [g]; }\n");
}

TEST(Link, VariablesComeAfterThoseThatTheirInitialValuesName) {
  EXPECT_EQ(linked({".extern .global .u64 far; .visible .global .u64 near = far;",
                    ".global .u32 values[2] = {1, 2}; .visible .global .u64 far = generic(values)+4;"}),
            ".global .u32 values[2] = {1, 2};\n"
            ".visible .global .u64 far = generic(values)+4;\n"
            ".visible .global .u64 near = far;\n");
}

TEST(Link, UsesTheFirstWeakDefinition) {
  EXPECT_EQ(
      linked({".weak .func f { ret; }\n.weak .global .u32 g = 1;",
              ".weak .func f;\n.visible .entry k() { call f; "
              "ret; }\n.weak .func f { exit; }\n.weak .global "
              ".u32 g = 2;"}),
      ".weak .func f;\n.weak .global .u32 g = 1;\n.weak .func f { ret; }\n.visible .entry k() { call f; ret; }\n");
}

TEST(Link, ADefinitionThatIsNotWeakReplacesWeakOnes) {
  EXPECT_EQ(linked({".weak .func f { exit; }", ".visible .func f { ret; }", ".weak .func f { trap; }"}),
            ".visible .func f { ret; }\n");
}

TEST(Link, InternalNamesThatAnotherUnitHasGetTheNumberOfTheirUnit) {
  EXPECT_EQ(linked({".global .align 1 .b8 $str[2] = {65};\n.func f { ret; }\n"
                    ".visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, $str; call f; ret; }",
                    ".global .align 1 .b8 $str[2] = {66};\n.func f { ret; }\n.global .u32 only_here = 2;\n"
                    ".visible .entry l() { .reg .b64 %rd1; mov.u64 %rd1, $str; call f; ret; }"}),
            ".global .align 1 .b8 $str$1[2] = {65};\n.global .align 1 .b8 $str$2[2] = {66};\n"
            ".global .u32 only_here = 2;\n.func f$1 { ret; }\n"
            ".visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, $str$1; call f$1; ret; }\n.func f$2 { ret; }\n"
            ".visible .entry l() { .reg .b64 %rd1; mov.u64 %rd1, $str$2; call f$2; ret; }\n");
}

TEST(Link, AnInternalNameMakesWayForAVisibleOne) {
  EXPECT_EQ(linked({".visible .func f { ret; }", ".func f;\n.visible .entry k() { call f; ret; }\n.func f { exit; }",
                    ".func f$2 { ret; }"}),
            ".func f$2$;\n.visible .func f { ret; }\n.visible .entry k() { call f$2$; ret; }\n.func f$2$ { exit; }\n"
            ".func f$2 { ret; }\n");
}

TEST(Link, DynamicSharedMemoryStaysExternWithTheGreatestAlignment) {
  EXPECT_EQ(linked({".extern .shared .align 4 .b8 s[];\n.visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, s; }",
                    ".extern .shared .align 16 .b8 s[];\n.visible .entry l() { .reg .b64 %rd1; mov.u64 %rd1, s; }"}),
            ".extern .shared .align 16 .b8 s[];\n.visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, s; }\n"
            ".visible .entry l() { .reg .b64 %rd1; mov.u64 %rd1, s; }\n");
}

TEST(Link, LineInformationRefersToTheFilesOfItsUnit) {
  std::string const unit =
      " .loc 1 2 3\n.loc 2 5 6, function_name $L__info_string0, inlined_at 1 2 3\nret; }\n.file 1 \"a.cu\"\n"
      ".file 2 \"a.h\", 17, 18\n.section .debug_str {\n$L__info_string0:\n.b8 102\n.b8 0\n}";
  EXPECT_EQ(linked({".visible .entry k() {" + unit, ".visible .entry l() {" + unit}),
            ".visible .entry k() { .loc 1 2 3\n.loc 2 5 6, function_name $L__info_string0$1, inlined_at 1 2 3\nret; }\n"
            ".visible .entry l() { .loc 3 2 3\n.loc 4 5 6, function_name $L__info_string0$2, inlined_at 3 2 3\nret; }\n"
            ".file 1 \"a.cu\"\n.file 2 \"a.h\", 17, 18\n.file 3 \"a.cu\"\n.file 4 \"a.h\", 17, 18\n"
            ".section .debug_str {\n$L__info_string0$1:\n.b8 102\n.b8 0\n}\n"
            ".section .debug_str {\n$L__info_string0$2:\n.b8 102\n.b8 0\n}\n");
}

TEST(Link, LeavesOutOtherSectionsForDebuggers) {
  std::string const unit = ".section .debug_abbrev {\n.b8 1\n}\n.section .debug_info {\n.b32 .debug_abbrev\n}\n";
  EXPECT_EQ(linked({unit, unit + ".func f { ret; }"}), ".func f { ret; }\n");
}

TEST(Link, TheHighestVersionAndTargetCount) {
  std::string_view const units[] = {".version 8.7\n.target sm_90, debug\n.address_size 64\n",
                                    ".version 9.0\n.target sm_75\n.address_size 64\n",
                                    ".version 7.0\n.target sm_90a\n.address_size 64\n"};
  EXPECT_EQ(std::get<0>(link(units)), ".version 9.0\n.target sm_90a\n.address_size 64\n");
}

TEST(Link, AFunctionWithoutADefinitionRefusesOnlyTheEntriesThatCallIt) {
  std::string const first = ".extern .func lost; .visible .entry k() { call lost; ret; }";
  std::string const second = ".extern .func lost; .visible .entry l() { ret; }";
  EXPECT_THAT(refusal({first, second}), HasSubstr("not supported: a call of 'lost', which has no body"));
  EXPECT_EQ(refusal({second, ".visible .entry k() { ret; }"}), "");
}

TEST(Link, AVariableWithoutADefinitionRefusesTheEntriesThatUseIt) {
  EXPECT_THAT(refusal({".extern .global .u32 lost; .visible .entry k() { .reg .b64 %rd1; mov.u64 %rd1, lost; ret; }",
                       ".visible .entry l() { ret; }"}),
              HasSubstr("not supported: .extern .global .u32 lost"));
}

TEST(Link, ReportsDefinitionsThatContradictEachOther) {
  EXPECT_EQ(linked({".visible .func f { ret; }", "", ".visible .func f { ret; }"}),
            "error: multiple definitions of 'f', in translation unit 1 and translation unit 3");
  EXPECT_EQ(linked({".visible .global .u32 g;", ".visible .global .u32 g;"}),
            "error: multiple definitions of 'g', in translation unit 1 and translation unit 2");
  EXPECT_EQ(linked({".visible .global .u32 x;", ".extern .func x;"}),
            "error: 'x' is a function and a variable; one of them in translation unit 1");
}

TEST(Link, ReportsAUnitThatCannotBeRead) {
  EXPECT_EQ(linked({"", ".visible .func f {"}),
            "error: translation unit 2, line 4, column 19: expected '}' at the end of "
            "the text");
  EXPECT_EQ(linked({"", ".alias f, g;"}),
            "error: translation unit 2, line 4, column 1: expected a declaration at '.alias'");
  EXPECT_EQ(linked({"", ".common .global .u32 g;"}),
            "error: translation unit 2, line 4, column 1: expected a declaration at '.common'");
  EXPECT_EQ(linked({"", ".func ();"}), "error: translation unit 2, line 4, column 1: expected a name at '.func'");
}

}}  // namespace cuda_cpu::ptx
