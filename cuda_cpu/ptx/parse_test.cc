#include "cuda_cpu/ptx/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "cuda_cpu/ptx/forms.h"
#include "cuda_cpu/ptx/ptxas.h"

namespace cuda_cpu::ptx { namespace {

// Returns the reason why the entry `k` of a module cannot be run: a diagnostic, or "refused: " and the refusal. Empty
// if it can be run.
std::string outcome(std::string_view text) {
  auto const parsed = parse(text);
  if (auto const* const diagnostic = std::get_if<Diagnostic>(&parsed)) return diagnostic->to_string();
  auto const* const entry = std::get<0>(parsed)->find_entry("k");
  if (entry == nullptr) return "no entry";
  return entry->refusal ? "refused: " + entry->refusal->message : "";
}

constexpr std::string_view kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string entry(std::string_view name, std::string_view body) {
  return "\n.visible .entry " + std::string(name) +
         "(.param .u64 p0, .param .u32 p1)\n{\n.reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; "
         ".reg .b64 %rd<4>; .reg .f64 %fd<4>;\n" +
         std::string(body) + "\nret;\n}\n";
}

// Returns a module with `declarations` on line 4 and the entry `k` with `body` on line 8.
std::string module_with(std::string_view declarations, std::string_view body) {
  return std::string(kHeader) + std::string(declarations) + entry("k", body);
}
std::string outcome_of_body(std::string_view body) { return outcome(module_with("", body)); }

std::shared_ptr<Module const> parsed(std::string_view text) {
  auto result = parse(text);
  if (auto const* const diagnostic = std::get_if<Diagnostic>(&result)) {
    ADD_FAILURE() << diagnostic->to_string();
    return std::make_shared<Module>();
  }
  return std::get<0>(result);
}

TEST(Parse, AcceptsSupportedInstructions) {
  std::string all(kHeader);
  int entries = 0;
  for (std::string_view const body : {"add.s32 %r1, %r2, -5;",
                                      "add.ftz.rn.f32 %f1, %f2, %f3;",
                                      "add.s32.sat %r1, %r2, %r3;",
                                      "ld.global.u32.v2 {%r1, %r2}, [%rd1];",
                                      "mov.f32 %f1, 1.5;",
                                      "mov.b32 %r1, 0f3F800000;",
                                      "mov.f32 %r1, %f1;",
                                      "and.b32 %f1, %f2, %f3;",
                                      "ld.global.u8 %r1, [%rd1+-4];",
                                      "ld.global.v2.u32 {%r1,_}, [%rd1];",
                                      "st.global.v4.u32 [%rd1], {%r1, 0, "
                                      "%r2, %r3};",
                                      "mov.b64 {%r1,_}, %rd1;",
                                      "mov.b64 %rd1, {%r1,5};",
                                      "mov.u64 %rd1, %clock64;",
                                      "setp.lt.and.s32 %p1|_, %r1, %r2, !%p3;",
                                      "atom.global.add.u32 _, [%rd1], 1;",
                                      "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;",
                                      "@!%p1 bra end; end:",
                                      "{ .reg .u32 %r1; mov.u32 %r1, 1; }",
                                      "{ L: bra L; } { L: bra L; }",
                                      "ld.param.u32 %r1, [p0+4];",
                                      "mov.u64 %rd1, p0;",
                                      "cvt.rn.f16.f32 %r1, %f2;",
                                      ".reg .u8 b; ld.global.u8 b, [%rd1]; st.global.b8 [%rd1], b;",
                                      ".reg .s8 b; cvt.s8.s32 b, %r1; cvt.rn.f32.s8 %f1, b;",
                                      ".reg .b8 b<5>; mov.b32 {b1, b2, _, b4}, %r1; mov.b32 %r2, {b1, b2, b3, b4};",
                                      "mov.u32 %r1, WARP_SZ;",
                                      "add.s32 %r1, %r2, -WARP_SZ;",
                                      "setp.lt.u32 %p1, %r1, WARP_SZ;",
                                      "add.bf16 %rs1, %rs2, %rs3;",
                                      "max.s16x2 %r1, %r2, %r3;",
                                      ".pragma \"nounroll\";",
                                      "/* a comment\nof two lines */ ret; // and one"}) {
    EXPECT_EQ(outcome_of_body(body), "") << body;
    all += entry("k" + std::to_string(++entries), body);
  }
  EXPECT_EQ(has_ptxas() ? ptxas_errors(all) : "", "");
}

TEST(Parse, SkipsLineInformation) {
  for (std::string_view const body :
       {".loc 1 2 3\nret;", ".loc 1 4 5\n.loc 1 2 3, function_name L, inlined_at 1 4 5 L: ret;",
        ".loc 1 4 5\n.loc 1 2 3, function_name L+4\n, inlined_at 1 4 5\nL: ret;", ".file 1 \"x.cu\", 5, 6 ret;"}) {
    EXPECT_EQ(outcome_of_body(body), "") << body;
  }
}

TEST(Parse, ReportsTheLineTheColumnAndTheTokenOfAnError) {
  EXPECT_EQ(outcome_of_body("add.s32 %r1, %r2 %r3;"), "line 8, column 18: expected ',' at '%r3'");
  EXPECT_EQ(outcome(""), "line 1, column 1: expected .version at the end of the text");
  EXPECT_EQ(outcome(".version 9.0\n.target sm_90\n.address_size 32\n"), "line 3, column 15: expected 64 at '32'");
}

struct Case {
  std::string_view body;
  std::string_view message;
};

TEST(Parse, ReportsTextThatCannotBeParsed) {
  for (auto const& [body, message] :
       std::initializer_list<Case>{{"add.s32 %r1, %r2, %rx;", "undeclared register at '%rx'"},
                                   {"add.s32 %r1, %r2, %r8;", "undeclared register at '%r8'"},
                                   {"add.s32 %r1, %r2, %r01;", "undeclared register at '%r01'"},
                                   {"add.s32 %r1, %r2;", "expected ','"},
                                   {"ld.global.u32 %r1, [%rd1-4];", "expected ']'"},
                                   {"ld.global.u32 %r1, [nothing];", "undeclared name at 'nothing'"},
                                   {"call nothing;", "undeclared function at 'nothing'"},
                                   {".loc 1 2 3 add.s32 %r1, %r2;", "expected ','"},
                                   {".file 1 \"x.cu\", 5, 6 add.s32 %r1, %r2;", "expected ','"},
                                   {"bra nowhere;", "undefined label at 'nowhere'"},
                                   {"L: L: bra L;", "label defined twice at 'L'"},
                                   {"{ L: ret; } bra L;", "undefined label at 'L'"},
                                   {".reg .u32 %r;", "name declared twice at '%r'"},
                                   {"mov.u32 %r1, 08;", "invalid number at '08'"},
                                   {"mov.u64 %rd1, 0x10000000000000000;", "invalid number"},
                                   {".pragma \"nounroll\" ret;", "expected ';'"},
                                   {"`", "expected an instruction"},
                                   {"/* without an end", ""}}) {
    std::string const result = outcome_of_body(body);
    EXPECT_NE(result, "") << body;
    EXPECT_FALSE(result.starts_with("refused")) << body << ": " << result;
    EXPECT_NE(result.find(message), result.npos) << body << ": " << result;
  }
}

TEST(Parse, RefusesAnEntryWithAnUnsupportedInstruction) {
  for (std::string const instruction : {"tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f0}, [%rd1, {%r1,%r2,%r3,%r3}]",
                                        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [p0, {%f1,%f2}]",
                                        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1}]",
                                        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, %rd2, {%f1,%f2}]",
                                        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}|%p1, [%rd1, {%f1,%f2}]",
                                        "suld.b.1d.v2.b32.trap {%r1}, [%rd1, {%r1}]",
                                        "add.rn.bf16 %r1, %rs2, %rs3",
                                        "add.sat.u32 %r1, %r2, %r3",
                                        "add.s32 %r1, %r2, %f1",
                                        "add.s32 %rd1, %r2, %r1",
                                        "add.f32 %f1, %f2, 1",
                                        "add.s32 %r1, %r2, %r3, %r4",
                                        "add.s32 _, %r2, %r3",
                                        "add.f16x2 %f1, %f1, %f2",
                                        "mov.u32 %r1, 0f3F800000",
                                        "mov.u32 %r1, %tid",
                                        "mov.u32 %r1, %envreg3",
                                        "setp.lt.s32 %r1, %r2, %r3",
                                        "@%r1 ret",
                                        "ld.global.u32 %r1, [%r1]",
                                        "ld.global.u32 %r1, [p0]",
                                        "ld.global.f32 %fd1, [%rd1]",
                                        "ld.global.u32 %r1, [4096]",
                                        "st.param.u64 [p0], %rd1",
                                        "st.param.b32 [%rd1], %r1",
                                        "bar.red.popc.u32 %r1, 0, 64, %p1",
                                        "call %rd1",
                                        ".branchtargets a, b",
                                        "vadd.u32.u32.u32 %r1.b0, %r2, %r3",
                                        "vadd.u32.u32.u32.add %r1, %r2, %r3, %r0.b0",
                                        "vadd.u32.u32.u32 %r1, %r2.b4, %r3",
                                        "vadd2.u32.u32.u32 %r1, %r2.h10, %r3, %r0",
                                        "vmad.s32.s32.s32 %r1, -%r2, %r3, -%r0",
                                        "vmad.u32.u32.u32 %r1.b0, %r2, %r3, %r0",
                                        "add.u32 %r1.h0, %r2, %r3",
                                        "add.u32 %r1, %r2, %r3.b3210",
                                        "mov.u32 %r1, (1<<5)|(6&3)^2",
                                        "mov.u32 %r1, 5>3?7:9",
                                        "mov.u32 %r1, 7 % 4",
                                        "add.u32 %r1, ~3, %r2",
                                        "add.u32 %r1, -(3), %r2",
                                        "add.u32 %r1, 12/4, %r2",
                                        "ld.global.u32 %r1, [%rd1+(4)]",
                                        "ld.global.u32 %r1, [%rd1+4*2]",
                                        "ld.global.u32 %r1, [%rd1.x]",
                                        ".reg .f16x2 %h<3>",
                                        ".reg .b33 %q",
                                        ".foo a"}) {
    EXPECT_EQ(outcome_of_body(instruction + ";"), "refused: line 8: not supported: " + instruction);
  }
}

// The instructions as nvcc passes them on for sm_90a and sm_100a.
TEST(Parse, RefusesAnEntryWithMatrixInstructionsOfWarpGroups) {
  for (std::string const instruction :
       {"wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f0}, %rd1, %rd2, %p1, 1, 1, 0, 0",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r1, %r2, %r3, %r0}, %p1",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2]", "tcgen05.wait::ld.sync.aligned",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1]"}) {
    EXPECT_EQ(outcome_of_body(instruction + ";"), "refused: line 8: not supported: " + instruction);
  }
}

TEST(Parse, RefusesAnEntryThatSetsAConditionalNode) {
  EXPECT_EQ(
      outcome(module_with(".extern .func cudaGraphSetConditional (.param .b64 a, .param .b32 b);\n",
                          "{ .param .b64 a; .param .b32 b; call cudaGraphSetConditional, (a, b); }")),
      "refused: line 9: not supported: a call of 'cudaGraphSetConditional': kernels cannot call the CUDA runtime, "
      "launch kernels or change graphs");
}

TEST(Parse, RefusesARegisterOfOneByteForWiderTypes) {
  EXPECT_EQ(outcome_of_body(".reg .u8 b;\nadd.u16 %rs1, %rs2, b;"),
            "refused: line 9: not supported: add.u16 %rs1, %rs2, b");
  EXPECT_EQ(outcome_of_body(".reg .b8 b;\nld.global.u16 b, [%rd1];"),
            "refused: line 9: not supported: ld.global.u16 b, [%rd1]");
}

TEST(Parse, RefusesAnEntryForTheFirstUnsupportedInstruction) {
  EXPECT_EQ(outcome_of_body("ret;\nbrkpt;\npmevent 1;\nadd.s32 %undeclared;"), "refused: line 9: not supported: brkpt");
}

TEST(Parse, PutsAnUnsupportedInstructionOnOneLine) {
  EXPECT_EQ(outcome_of_body("tex.1d.v4.f32.f32\n\t{%f1},   [%rd1];"),
            "refused: line 8: not supported: tex.1d.v4.f32.f32 {%f1}, [%rd1]");
  auto const result = outcome_of_body("brkpt " + std::string(200, 'x') + ";");
  EXPECT_TRUE(result.ends_with("xxx...")) << result;
}

TEST(Parse, RefusesAnEntryThatNamesAnUnsupportedVariable) {
  for (std::string const declaration :
       {".global .texref g", ".global .attribute(.unified(1, 2)) .u32 g", ".global .v4 .f32 g",
        ".global .b8 g[] = {1, 2}", ".global .u32 g = 0xFF(other)", ".global .u8 g[2][1000000000] = {{1}, {1}}",
        ".global .u32 g[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]",
        ".extern .global .u32 "
        "g",
        ".global .u64 g = k", ".global .u64 g = s"}) {
    auto const declarations =
        ".entry k(.param .u64 p0, .param .u32 p1); .shared .u32 s; .global .u64 other; " + declaration + ";";
    EXPECT_EQ(outcome(module_with(declarations, "")), "") << declaration;
    EXPECT_EQ(outcome(module_with(declarations, "mov.u64 %rd1, g;")), "refused: line 4: not supported: " + declaration);
  }
  EXPECT_EQ(outcome(module_with(".extern .global .u32 g; .global .u64 p = g;", "ld.global.u64 %rd1, [p];")),
            "refused: line 4: not supported: .global .u64 p = g");
}

TEST(Parse, RefusesOnlyTheEntryWithTheUnsupportedInstruction) {
  auto const module = parsed(module_with("", "tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f0}, [%rd1, {%r1,%r2,%r3,%r3}];") +
                             ".visible .entry other() { ret; }\n");
  EXPECT_TRUE(module->find_entry("k")->refusal);
  EXPECT_FALSE(module->find_entry("other")->refusal);
}

// These characters occur only in constant expressions.
TEST(Parse, GoesOnAfterARefusedConstantExpression) {
  auto const module = parsed(module_with("", "brkpt; mov.u32 %r1, (6/3&3)^2|(5>3?7:9)%4;") + entry("other", ""));
  EXPECT_TRUE(module->find_entry("k")->refusal);
  EXPECT_FALSE(module->find_entry("other")->refusal);
}

TEST(Parse, RefusesAnEntryIfAFunctionThatItCallsIsRefused) {
  EXPECT_EQ(outcome(module_with(".func g { pmevent 1; ret; }\n.func f { call g; ret; }", "call f;")),
            "refused: line 4: not supported: pmevent 1");
}

TEST(Parse, ReadsCallsByAddress) {
  std::string const functions =
      ".func (.param .b32 r) f(.param .b64 a, .param .b32 b) { ret; }\n.func g(.param .b64 a) { ret; }\n"
      ".global .u64 table[2] = {f, g};\n";
  std::string const by_address =
      "{ .param .b64 a; .param .b32 b; .param .b32 r; mov.u64 %rd1, f;\n"
      "type: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\ncall (r), %rd1, (a, b), type; }";
  EXPECT_EQ(outcome(module_with(functions, by_address)), "");
  auto const module = parsed(module_with(functions, by_address));
  auto const& entry = *module->find_entry("k");
  EXPECT_EQ(entry.call_depth, 1u);
  EXPECT_EQ(entry.reachable.size(), 2u) << "g takes other parameters";
  EXPECT_EQ(outcome(module_with(functions,
                                "{ .param .b32 b; type: .callprototype _ (.param .b64 _); call %rd1, (b), type; }")),
            "refused: line 11: not supported: call %rd1, (b), type");
  EXPECT_EQ(outcome(module_with(functions, "ld.global.u64 %rd1, [f];")),
            "refused: line 11: not supported: ld.global.u64 %rd1, [f]");
  // The call by address may reach `h`, which is refused.
  EXPECT_EQ(outcome(module_with(".func h { brkpt; ret; } .global .u64 table = h;",
                                "type: .callprototype _; call %rd1, type;")),
            "refused: line 4: not supported: brkpt");
}

TEST(Parse, SaysThatKernelsDoNotLaunchKernels) {
  EXPECT_EQ(outcome(module_with("", "mov.u64 %rd1, k;")),
            "refused: line 8: not supported: mov.u64 %rd1, k: kernels cannot launch kernels");
}

TEST(Parse, KnowsManagedVariables) {
  auto const module =
      parsed(std::string(kHeader) + ".global .attribute(.managed) .align 4 .u32 m = 5; .global .u32 g;");
  EXPECT_TRUE(module->find_variable("m")->managed);
  EXPECT_FALSE(module->find_variable("g")->managed);
}

TEST(Parse, RecursionHasALimitedDepth) {
  auto const depth = [](std::string const& locals) {
    auto const module = parsed(module_with(".func f { " + locals + " call f; ret; }", "call f;"));
    auto const& entry = *module->find_entry("k");
    EXPECT_TRUE(entry.recursive);
    EXPECT_LE(entry.local_bytes, 512u * 1024);
    return entry.call_depth;
  };
  EXPECT_EQ(depth(""), 1024u);
  EXPECT_EQ(depth(".local .b8 some[2000];"), 512u * 1024 / 2000 - 1);
}

TEST(Parse, LaysOutParametersSharedAndLocalMemory) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 8 .b8 c[12])\n.maxntid 64, 2, 1\n{\n"
      ".reg .b64 %rd<2>; .shared .align 4 .b8 tile[20]; .local .align 8 .b8 stack[24];\nmov.u64 %rd1, dynamic; "
      "ret;\n}\n");
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

TEST(Parse, ReadsInitialValues) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.global .u16 words[2][3] = {{1, 2}, {-1}};\n"
      ".const .f32 half = 0.5;\n"
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

TEST(Parse, ComputesTheDepthOfCalls) {
  auto const module = parsed(
      ".version 9.0\n.target sm_75\n.address_size 64\n.func (.param .b32 r) leaf(.param .b32 a) { .reg .b32 %x; "
      "ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n"
      ".func middle { .param .b32 i; .param .b32 o; call (o), leaf, (i); ret; }\n.visible .entry k() { call middle; "
      "ret; }\n");
  auto const* const entry = module->find_entry("k");
  EXPECT_FALSE(entry->refusal);
  EXPECT_EQ(entry->call_depth, 2u);
  EXPECT_EQ(entry->reachable.size(), 3u);
  EXPECT_EQ(outcome(module_with(".func f(.param .b32 a) { ret; }", "call f;")),
            "refused: line 8: not supported: "
            "call f");
}

TEST(Parse, ReportsADefinitionThatDiffersFromItsDeclaration) {
  std::string const declared = ".func f(.param .b32 a, .param .b32 b);\n";
  auto const with_definition = [&](std::string const& text) { return outcome(module_with(declared, "") + text); };
  EXPECT_EQ(with_definition(".func f(.param .b32 a, .param .b32 b) { ret; }"), "");
  EXPECT_EQ(with_definition(declared), "");
  for (std::string const definition :
       {".func f(.param .b32 a) { ret; }", ".func f(.param .b32 a);", ".func f(.param .b32 a, .param .b64 b) { ret; }",
        ".func f(.param .b32 a, .param .align 8 .b8 b[4]) { ret; }", ".entry f(.param .b32 a, .param .b32 b) { ret; }",
        ".func (.param .b32 r) f(.param .b32 a, .param .b32 b) { ret; }"}) {
    EXPECT_NE(with_definition(definition).find("'f' was declared differently before"), std::string::npos) << definition;
  }
}

TEST(Parse, AcceptsCallsOfProvidedFunctionsOnlyWithTheirParameters) {
  std::string const print = "vprintf(.param .b64 a, .param .b64 b)", result = ".func (.param .b32 r) ";
  std::string const arguments = ".param .b32 r; .param .b64 a; .param .b64 b; ";
  EXPECT_EQ(outcome(module_with(".extern " + result + print + ";", arguments + "call (r), vprintf, (a, b);")), "");
  EXPECT_EQ(outcome(module_with(result + print + " { ret; }", arguments + "call (r), vprintf, (a, b);")), "");
  auto const missing = "refused: line 8: not supported: a call of 'vprintf', which has no body";
  EXPECT_EQ(outcome(module_with(".extern .func vprintf;", "call vprintf;")), missing);
  EXPECT_EQ(outcome(module_with(".extern .func (.param .b8 r) " + print + ";",
                                ".param .b8 r; .param .b64 a; .param .b64 b; call (r), vprintf, (a, b);")),
            missing);
  EXPECT_EQ(outcome(module_with(".extern .func f(.reg .b32 a);", "call f, (%r1);")),
            "refused: line 8: not supported: call f, (%r1)");
}

TEST(Parse, RefusesAnEntryThatNeedsTooManyNestedCallsOrTooMuchLocalMemory) {
  std::string chain = ".func f0 { ret; }\n";
  for (int i = 1; i <= 70; ++i)
    chain += ".func f" + std::to_string(i) + " { call f" + std::to_string(i - 1) + "; ret; }\n";
  EXPECT_EQ(outcome(module_with(chain, "call f63;")), "");
  EXPECT_NE(outcome(module_with(chain, "call f70;")).find("not supported: a chain of more than 64 calls"),
            std::string::npos);
  EXPECT_EQ(outcome_of_body(".local .b8 a[500000];"), "");
  EXPECT_NE(outcome(module_with(".func f { .local .b8 a[300000]; ret; }", "call f;"))
                .find("not supported: more than 512 KiB of local memory for a thread"),
            std::string::npos);
}

}}  // namespace cuda_cpu::ptx
