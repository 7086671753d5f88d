#include "cuda_tests/ptx/isa.h"
#include "cuda_tests/ptx/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "cuda_tests/ptx/forms.h"
#include "cuda_tests/ptx/ptxas.h"
#include "cuda_tests/ptx/sample_text.h"

namespace cuda_tests::ptx {
namespace {

// What becomes of a module with one entry `k`: "" where it is accepted, else why not.
std::string verdict(std::string_view text) {
  auto const parsed = parse(text);
  if (auto const* const diagnosis = std::get_if<Diagnosis>(&parsed)) return diagnosis->to_string();
  EXPECT_EQ(has_ptxas() ? complaint(std::string(text)) : "", "") << text;  // what it rejects must not load
  auto const* const entry = std::get<0>(parsed)->find_entry("k");
  if (entry == nullptr) return "no entry";
  return entry->refusal ? "refused: " + entry->refusal->message : "";
}

std::string with_head(std::string_view declarations, std::string_view body, unsigned target = 90) {
  return ".version 9.0\n.target sm_" + std::to_string(target) + "\n.address_size 64\n" + std::string(declarations) +
         "\n.visible .entry k(.param .u64 p0, .param .u32 p1)\n{\n.reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; "
         ".reg .b64 %rd<4>; .reg .f64 %fd<4>;\n" +
         std::string(body) + "\nret;\n}\n";
}
std::string body_verdict(std::string_view body) { return verdict(with_head("", body)); }

std::shared_ptr<Module const> parsed(std::string_view text) {
  auto result = parse(text);
  if (auto const* const diagnosis = std::get_if<Diagnosis>(&result)) {
    ADD_FAILURE() << diagnosis->to_string();
    return std::make_shared<Module>();
  }
  EXPECT_EQ(has_ptxas() ? complaint(std::string(text)) : "", "") << text;
  return std::get<0>(result);
}

TEST(Parse, AcceptsWhatAnAssemblerAccepts) {
  for (std::string_view const body : {
           "add.s32 %r1, %r2, -5;", "add.ftz.rn.f32 %f1, %f2, %f3;", "add.s32.sat %r1, %r2, %r3;",
           "ld.global.u32.v2 {%r1, %r2}, [%rd1];", "mov.f32 %f1, 1.5;", "mov.b32 %r1, 0f3F800000;", "mov.f32 %r1, %f1;",
           "and.b32 %f1, %f2, %f3;",
           "ld.global.u8 %r1, [%rd1+-4];", "ld.global.v2.u32 {%r1,_}, [%rd1];", "st.global.v4.u32 [%rd1], {%r1, 0, %r2, %r3};",
           "mov.b64 {%r1,_}, %rd1;", "mov.b64 %rd1, {%r1,5};", "mov.u64 %rd1, %clock64;",
           "setp.lt.and.s32 %p1|_, %r1, %r2, !%p3;",
           "atom.global.add.u32 _, [%rd1], 1;", "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", "@!%p1 bra end; end:",
           "{ .reg .u32 %r1; mov.u32 %r1, 1; }", "{ L: bra L; } { L: bra L; }", "ld.param.u32 %r1, [p0+4];",
           "mov.u64 %rd1, p0;",
           ".loc 1 2 3\nret;", ".loc 1 4 5\n.loc 1 2 3, function_name L, inlined_at 1 4 5 L: ret;", ".loc 1 4 5\n.loc 1 2 3, function_name L+4\n, inlined_at 1 4 5\nL: ret;", ".pragma \"nounroll\";", "/* a comment\nof two lines */ ret; // and one", "cvt.rn.f16.f32 %r1, %f2;"}) {
    EXPECT_EQ(body_verdict(body), "") << body;
  }
}

TEST(Parse, NamesPlaceAndTokenOfWhatIsNoPtx) {
  auto const text = with_head("", "add.s32 %r1, %r2 %r3;");
  EXPECT_EQ(verdict(text), "line 8, column 18: ',' is expected here: '%r3'");
  EXPECT_EQ(verdict(""), "line 1, column 1: a module begins with .version: the end of the text");
  EXPECT_EQ(verdict(".version 9.0\n.target sm_90\n.address_size 32\n"),
            "line 3, column 15: only addresses of 64 bits are supported: '32'");
}

struct Rejection {
  std::string_view body;
  std::string_view why;
};

TEST(Parse, RejectsWhatAnAssemblerRejects) {
  for (auto const& [body, why] : std::initializer_list<Rejection>{
           {"add.s32 %r1, %r2, %rx;", "there is no such register"},
           {"add.s32 %r1, %r2, %r8;", "there is no such register"},
           {"add.s32 %r1, %r2, %r01;", "there is no such register"},
           {"add.s32 %r1, %r2, %f1;", "'add.s32' takes no register of .f32 here"},
           {"add.s32 %rd1, %r2, %r1;", "'add.s32' takes no register of .b64 here"},
           {"add.f32 %f1, %f2, 1;", "'add.f32' takes no such number here"},
           {"add.f16 %rs1, %rs2, 1.0;", "'add.f16' takes no such number here"},
           {"add.s32 %r1, %r2;", "',' is expected here"},
           {"add.s32 %r1, %r2, %r3, %r4;", "'add.s32' takes no such operand"},
           {"add.s32 _, %r2, %r3;", "'add.s32' takes no such operand"},
           {"mov.u32 %r1, 0f3F800000;", "'mov.u32' takes no such number here"},
           {"ld.global.u32 %r1, [%r1];", "this register holds no address"},
           {"ld.global.u32 %r1, [p0];", "'ld.global.u32' takes no such operand"},
           {"ld.global.u32 %r1, [%rd1-4];", "']' is expected here"},
           {"ld.global.f32 %fd1, [%rd1];", "'ld.global.f32' takes no register of .f64 here"},
           {"st.param.u64 [p0], %rd1;", ""},
           {".loc 1 2 3 add.s32 %r1, %r2;", "',' is expected here"},
           {".file 1 \"x.cu\", 5, 6 add.s32 %r1, %r2;", "',' is expected here"},
           {"add.f16x2 %f1, %f1, %f2;", "takes no register of .f32 here"},
           {".reg .u32 %u; add.f16x2 %u, %u, %u;", "takes no register of .u32 here"},
           {".reg .b32 %z3; .reg .b32 %z<8>;", "'%z3' is declared twice"},
           {"bra nowhere;", "there is no such label"},
           {"L: L: bra L;", "this label is defined twice"},
           {"{ L: ret; } bra L;", "there is no such label"},
           {"@%r1 ret;", "this is no predicate"},
           {".reg .u32 %r;", "'%r' is declared twice"},
           {".reg .u32 %z<3>; .reg .u32 %z1;", "'%z1' is declared twice"},
           {"bar.sync 16;", "'bar.sync' takes no such operand"},
           {"bar.sync 0, 33;", "'bar.sync' takes no such operand"},
           {"bfe.u32 %r1, %r2, 300, 1;", "'bfe.u32' takes no such operand"},
           {"setp.lt.s32 %r1, %r2, %r3;", "this is no predicate"},
           {"mov.u32 %r1, 08;", "this is no number"},
           {"mov.u64 %rd1, 0x10000000000000000;", "this is no number"},
           {".pragma \"nounroll\" ret;", "';' is expected here"},
           {"`", "an instruction is expected here"},
           {"/* without an end", ""}}) {
    std::string const verdict = body_verdict(body);
    EXPECT_NE(verdict, "") << body;
    EXPECT_NE(verdict.find(why), verdict.npos) << body << ": " << verdict;
  }
}

TEST(Parse, RefusesAnEntryThatUsesWhatIsNotSupportedWithItsLine) {
  EXPECT_EQ(body_verdict("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1,%f2}];"),
            "refused: line 8: 'tex.2d.v4.f32.f32' is not supported");
  EXPECT_EQ(body_verdict("add.rn.bf16 %rs1, %rs2, %rs3;"), "refused: line 8: 'add.rn.bf16' is not supported");
  EXPECT_EQ(body_verdict("lop3.b32 %r1, %r2, %r3, %r4, 0x1ff;"),
            "refused: line 8: 'lop3.b32' by more than eight bits is not supported");
  EXPECT_EQ(body_verdict("st.param.b32 [%rd1], %r1;"),
            "refused: line 8: 'st.param.b32' of an address in a register is not supported");
  EXPECT_EQ(body_verdict(".param .b32 a; mov.b64 %rd1, a;"), "line 8, column 30: a call's parameter has no address: 'a'");
  EXPECT_EQ(verdict(with_head(".func f { ret; }\n.global .u64 t[2] = {f, f};", "ld.global.u64 %rd1, [t];")),
            "refused: line 5: a function's address in 't' is not supported");
  EXPECT_EQ(body_verdict("t: .branchtargets a, b; brx.idx %r1, t; a: b:"),
            "refused: line 8: '.branchtargets' is not supported");
  EXPECT_EQ(verdict(with_head(".func f { ret; }", ".reg .b64 %q; mov.u64 %q, f;")),
            "refused: line 8: 'mov.u64' with a function's address is not supported");
  EXPECT_EQ(verdict(with_head(".extern .global .u32 g;", "ld.global.u32 %r1, [g];")),
            "refused: line 4: 'g' of another module is not supported");
  EXPECT_EQ(verdict(with_head(".extern .func f;", "call f;")),
            "refused: line 8: a call of 'f', which has no body, is not supported");
}

TEST(Parse, RejectsTheTextForWhatPtxDoesNotHave) {
  EXPECT_EQ(body_verdict("addx.s32 %r1, %r2, %r3;"), "line 8, column 1: PTX has no instruction 'addx': 'addx'");
  EXPECT_EQ(body_verdict("add.foo.s32 %r1, %r2, %r3;"), "line 8, column 5: PTX has no modifier '.foo' here: 'foo'");
  EXPECT_EQ(body_verdict("tex.2d.foo.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1,%f2}];"),
            "line 8, column 8: PTX has no modifier '.foo' here: 'foo'");
  EXPECT_EQ(body_verdict("add.sat.u32 %r1, %r2, %r3;"),
            "line 8, column 1: PTX has no such form of 'add' for this target and version: 'add.sat.u32'");
  EXPECT_EQ(verdict(with_head("", "redux.sync.add.s32 %r1, %r2, -1;", 75)),
            "line 8, column 1: PTX has no such form of 'redux' for this target and version: 'redux.sync.add.s32'");
  EXPECT_EQ(body_verdict("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [t, {%f1,%f2}];"),
            "line 8, column 39: there is nothing of this name: 't'");
  EXPECT_EQ(body_verdict("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f9}, [%rd1, {%f1,%f2}];"),
            "line 8, column 32: there is no such register: '%f9'");
  EXPECT_EQ(body_verdict("pmevent 1 2;"), "line 8, column 11: ',' is expected here: '2'");
  EXPECT_EQ(body_verdict("mov.u32 %r1, %tid.q;"), "line 8, column 14: there is no such register: '%tid.q'");
  EXPECT_EQ(body_verdict(".foo a;"), "line 8, column 1: this is no directive of a function: '.foo'");
  EXPECT_EQ(body_verdict(".reg .b33 %q;"), "line 8, column 6: PTX has no such type: '.b33'");
}

TEST(Parse, RefusesRatherThanRejectsWhatAnAssemblerAccepts) {
  EXPECT_EQ(body_verdict("bar.red.popc.u32 %r1, 0, 64, %p1;"),
            "refused: line 8: 'bar.red.popc.u32' with a count is not supported");
  EXPECT_EQ(body_verdict(".reg .f16x2 %h<3>; add.f16x2 %h1, %h1, %h2;"), "refused: line 8: '.f16x2' is not supported");
  for (std::string const declaration :
       {".global .texref g;", ".global .attribute(.managed) .u32 g;", ".global .v4 .f32 g;", ".global .b8 g[] = {1, 2};",
        ".global .u32 g = 0xFF(other);", ".global .u8 g[2][1000000000] = {{1}, {1}};",
        ".global .u32 g[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];"}) {
    EXPECT_EQ(verdict(with_head(".global .u64 other;" + declaration, "")), "") << declaration;
    EXPECT_NE(verdict(with_head(".global .u64 other;" + declaration, "mov.u64 %rd1, g;")).find("refused: line 4: "),
              std::string::npos)
        << declaration;
  }
}

TEST(Parse, KnowsWhichVersionAndTargetBroughtAForm) {
  auto const with_version = [](std::string const& version, std::string const& target, std::string const& body) {
    return verdict(".version " + version + "\n.target " + target +
                   "\n.address_size 64\n.visible .entry k() { .reg .f32 %f; .reg .b32 %r;\n" + body + "\nret; }");
  };
  EXPECT_EQ(with_version("6.5", "sm_75", "tanh.approx.f32 %f, %f;"),
            "line 5, column 1: PTX has no such form of 'tanh' for this target and version: 'tanh.approx.f32'");
  EXPECT_EQ(with_version("7.0", "sm_75", "tanh.approx.f32 %f, %f;"), "");
  EXPECT_NE(with_version("7.7", "sm_80", "barrier.cta.sync 0;"), "");
  EXPECT_EQ(with_version("7.8", "sm_80", "barrier.cta.sync 0;"), "");
  EXPECT_EQ(with_version("8.0", "sm_90a", ""), "");
  EXPECT_EQ(with_version("9.0", "sm_103f", ""), "");
  for (std::string const target : {"sm_75a", "sm_90f", "sm_089", "sm_90aa"})
    EXPECT_NE(with_version("9.0", target, ""), "") << target;
  EXPECT_NE(with_version("7.8", "sm_90a", ""), "");
}

// Types may stand twice, where an instruction has two of them.
TEST(Parse, NoModifierStandsTwice) {
  for (auto const* const form : all_forms()) {
    for (std::size_t begin = form->name.find('.'); begin != form->name.npos; begin = form->name.find('.', begin + 1)) {
      std::string const word = form->name.substr(begin, form->name.find('.', begin + 1) - begin);
      if (find_type(word.substr(1)) != Type::none) continue;
      std::string const doubled = std::string(form->name).insert(begin, word);
      EXPECT_EQ(find_form(doubled, 90, 90), nullptr) << doubled;
      EXPECT_TRUE(isa_objection(doubled, 90, 90, true)) << doubled;
    }
  }
}

TEST(Parse, OtherEntriesOfTheModuleAreNotRefused) {
  auto const module =
      parsed(with_head("", "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1}];") + ".visible .entry other() { ret; }\n");
  EXPECT_TRUE(module->find_entry("k")->refusal);
  EXPECT_FALSE(module->find_entry("other")->refusal);
}

TEST(Parse, RefusesAnEntryForWhatItCallsUses) {
  EXPECT_EQ(verdict(with_head(".func g { pmevent 1; ret; }\n.func f { call g; ret; }", "call f;")),
            "refused: line 4: 'pmevent' is not supported");
}

TEST(Parse, LaysOutParametersSharedAndLocalMemory) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 8 .b8 c[12])\n.maxntid 64, 2, 1\n{\n"
      ".reg .b64 %rd<2>; .shared .align 4 .b8 tile[20]; .local .align 8 .b8 stack[24];\nmov.u64 %rd1, dynamic; ret;\n}\n");
  auto const* const entry = module->find_entry("k");
  ASSERT_NE(entry, nullptr);
  ASSERT_EQ(entry->parameters.size(), 3u);
  EXPECT_EQ(entry->parameters[1].offset_bytes, 8u);
  EXPECT_EQ(entry->parameters[2].offset_bytes, 16u);
  EXPECT_EQ(entry->parameter_bytes, 28u);
  EXPECT_EQ(entry->static_shared_bytes, 32u);
  EXPECT_EQ(entry->local_bytes, 32u);
  EXPECT_EQ(entry->max_threads(), 128u);
}

TEST(Parse, KeepsWhatVariablesHoldAtTheStart) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.global .u16 words[2][3] = {{1, 2}, {-1}};\n.const .f32 half = 0.5;\n"
      ".global .u64 pointer = generic(words)+4;\n");
  auto const& words = *module->find_variable("words");
  EXPECT_EQ(words.size_bytes, 12u);
  ASSERT_EQ(words.initial.size(), 8u);
  EXPECT_EQ(words.initial[2], std::byte{2});
  EXPECT_EQ(words.initial[6], std::byte{255});
  EXPECT_EQ(module->find_variable("half")->initial[3], std::byte{0x3f});
  ASSERT_EQ(module->find_variable("pointer")->relocations.size(), 1u);
  EXPECT_EQ(module->find_variable("pointer")->relocations[0].symbol, "words");
}

TEST(Parse, RejectsWhatHasNoAddressOrNoSizeThatFits) {
  EXPECT_NE(verdict(with_head(".global .u64 p = nosuch;", "")).find("there is no variable 'nosuch'"), std::string::npos);
  EXPECT_NE(verdict(with_head(".global .u64 p = later; .global .u32 later;", "")).find("there is no variable 'later'"),
            std::string::npos);
  EXPECT_NE(verdict(with_head(".shared .u32 s; .global .u64 p = s;", "")).find("'s' has no address before a block begins"),
            std::string::npos);
  EXPECT_NE(verdict(with_head(".func f(.param .b64 a[536870912]) { ret; }", "")).find("parameters take more than 32764 bytes"),
            std::string::npos);
  EXPECT_EQ(verdict(with_head(".extern .global .u32 g; .global .u64 p = g;", "ld.global.u64 %rd1, [p];")),
            "refused: line 4: 'g' of another module is not supported");
}

TEST(Parse, FollowsCallsAndTheirDepth) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.func (.param .b32 r) leaf(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n"
      ".func middle { .param .b32 i; .param .b32 o; call (o), leaf, (i); ret; }\n.visible .entry k() { call middle; ret; }\n");
  auto const* const entry = module->find_entry("k");
  EXPECT_FALSE(entry->refusal);
  EXPECT_EQ(entry->call_depth, 2u);
  EXPECT_EQ(entry->reachable.size(), 3u);
  EXPECT_NE(verdict(with_head(".func f(.param .b32 a) { ret; }", "call f;")).find("these are not the parameters of 'f'"),
            std::string::npos);
}

TEST(Parse, RejectsADefinitionThatIsNotWhatWasDeclared) {
  std::string const declared = ".func f(.param .b32 a, .param .b32 b);\n";
  std::string const why = "'f' is declared in another way before";
  auto const again = [&](std::string const& definition) { return verdict(with_head(declared, "") + definition); };
  EXPECT_EQ(again(".func f(.param .b32 a, .param .b32 b) { ret; }"), "");
  EXPECT_EQ(again(declared), "");
  for (std::string const definition :
       {".func f(.param .b32 a) { ret; }", ".func f(.param .b32 a);", ".func f(.param .b32 a, .param .b64 b) { ret; }",
        ".func f(.param .b32 a, .param .align 8 .b8 b[4]) { ret; }", ".entry f(.param .b32 a, .param .b32 b) { ret; }",
        ".func (.param .b32 r) f(.param .b32 a, .param .b32 b) { ret; }"}) {
    EXPECT_NE(again(definition).find(why), std::string::npos) << definition << again(definition);
  }
}

TEST(Parse, KnowsWhatADeviceProvidesByItsWholeDeclaration) {
  std::string const print = "vprintf(.param .b64 a, .param .b64 b)", result = ".func (.param .b32 r) ";
  std::string const arguments = ".param .b32 r; .param .b64 a; .param .b64 b; ";
  EXPECT_EQ(verdict(with_head(".extern " + result + print + ";", arguments + "call (r), vprintf, (a, b);")), "");
  EXPECT_EQ(verdict(with_head(result + print + " { ret; }", arguments + "call (r), vprintf, (a, b);")), "");
  auto const missing = "refused: line 8: a call of 'vprintf', which has no body, is not supported";
  EXPECT_EQ(verdict(with_head(".extern .func vprintf;", "call vprintf;")), missing);
  EXPECT_EQ(verdict(with_head(".extern .func (.param .b8 r) " + print + ";",
                              ".param .b8 r; .param .b64 a; .param .b64 b; call (r), vprintf, (a, b);")),
            missing);
  EXPECT_EQ(verdict(with_head(".extern .func vprintf(.reg .b32 a);", "call vprintf, (%r1);")),
            "refused: line 8: a call with registers is not supported");
}

TEST(Parse, RefusesWhatNeedsMoreCallsOrMemoryThanAThreadHas) {
  std::string chain = ".func f0 { ret; }\n";
  for (int i = 1; i <= 70; ++i) chain += ".func f" + std::to_string(i) + " { call f" + std::to_string(i - 1) + "; ret; }\n";
  EXPECT_EQ(verdict(with_head(chain, "call f63;")), "");
  EXPECT_NE(verdict(with_head(chain, "call f70;")).find("a chain of more than 64 calls is not supported"), std::string::npos);
  EXPECT_EQ(body_verdict(".local .b8 a[500000];"), "");
  EXPECT_NE(verdict(with_head(".func f { .local .b8 a[300000]; ret; }", "call f;")).find("more than 512 KiB of local memory"),
            std::string::npos);
}

TEST(Forms, PatternsSpellWhatTheyShould) {
  EXPECT_EQ(expand_pattern("a[.b].{c|d}"), (std::vector<std::string>{"a.c", "a.d", "a.b.c", "a.b.d"}));
  EXPECT_EQ(expand_pattern("x.<irnd>").size(), 4u);
  for (auto const* const bad : {"a[.b", "a{b", "a<nothing>", "a<rnd", "a}", "a]"})
    EXPECT_THROW(expand_pattern(bad), std::invalid_argument) << bad;
}

TEST(Forms, AreExact) {
  EXPECT_NE(find_form("add.rn.ftz.sat.f32"), nullptr);
  EXPECT_EQ(find_form("add.ftz.rn.f32"), nullptr);
  EXPECT_EQ(find_form("add"), nullptr);
  auto const& form = *find_form("cvt.rzi.ftz.s32.f32");
  EXPECT_EQ(form.first_type, Type::s32);
  EXPECT_EQ(form.type, Type::f32);
  EXPECT_TRUE(form.has("rzi"));
}

TEST(Forms, EachIsAcceptedInASample) {
  for (auto const* const form : all_forms()) {
    auto const text = sample_head(90) + sample_instruction(*form) + "\n" + sample_tail();
    auto const result = parse(text);
    auto const* const module = std::get_if<0>(&result);
    ASSERT_NE(module, nullptr) << form->name << ": " << std::get<1>(result).to_string();
    ASSERT_FALSE((*module)->find_entry("sample")->refusal) << form->name;
  }
}

}  // namespace
}  // namespace cuda_tests::ptx
