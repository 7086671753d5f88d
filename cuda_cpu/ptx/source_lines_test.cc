#include "cuda_cpu/ptx/source_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "cuda_cpu/ptx/parse.h"

namespace cuda_cpu::ptx { namespace {

// Returns a module with a kernel of this body, followed by the sections that nvcc -lineinfo writes at the end.
std::shared_ptr<Module const> module_of(std::string const& body) {
  auto const parsed = parse(".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n" + body +
                            "}\n.file 1 \"/src/softmax.cu\"\n.file 2 \"/src/reduce.h\", 1700000000, 4096\n"
                            ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,55,114,111,119,95,109,97,120,118,0\n"
                            "$L__info_string1:\n.b8 104,97,108,102,0\n\n}\n");
  auto const* const diagnostic = std::get_if<Diagnostic>(&parsed);
  EXPECT_EQ(diagnostic, nullptr) << diagnostic->to_string();
  return diagnostic == nullptr ? std::get<0>(parsed) : nullptr;
}

std::vector<SourceLine> lines_of(Module const& module, std::size_t instruction) {
  return module.sources().lines_of(module.find_entry("k")->instructions.at(instruction).place);
}

std::string full_text_of(Module const& module, std::size_t instruction) {
  std::string text;
  for (auto const& [file, line, function] : lines_of(module, instruction))
    text += file + ":" + std::to_string(line) + " " + function + "\n";
  return text;
}

std::string text_of(Module const& module, std::size_t instruction) { return to_string(lines_of(module, instruction)); }

TEST(SourceLines, InstructionsHaveTheLineOfTheLatestLocation) {
  auto const module = module_of("trap;\n.loc 1 8 0\ntrap;\ntrap;\n.loc 2 9 3\ntrap;\n");
  EXPECT_EQ(text_of(*module, 0), "");
  EXPECT_EQ(full_text_of(*module, 1), "/src/softmax.cu:8 \n");
  EXPECT_EQ(text_of(*module, 2), "softmax.cu:8");
  EXPECT_EQ(text_of(*module, 3), "reduce.h:9");
}

TEST(SourceLines, InlinedCodeNamesTheLinesThatItWasInlinedAt) {
  auto const module = module_of(
      ".loc 1 71 3\ntrap;\n"
      ".loc 1 42 5, function_name $L__info_string0, inlined_at 1 71 3\ntrap;\n"
      ".loc 2 7 1, function_name $L__info_string1+2, inlined_at 1 42 5\ntrap;\n"
      // The same lines, inlined at another place.
      ".loc 1 80 3\n"
      ".loc 1 42 5, function_name $L__info_string0, inlined_at 1 80 3\n"
      ".loc 2 7 1, function_name $L__info_string1, inlined_at 1 42 5\ntrap;\n");
  EXPECT_EQ(text_of(*module, 0), "softmax.cu:71");
  EXPECT_EQ(text_of(*module, 1), "softmax.cu:42, inlined at softmax.cu:71");
  EXPECT_EQ(full_text_of(*module, 2), "/src/reduce.h:7 lf\n/src/softmax.cu:42 row_max()\n/src/softmax.cu:71 \n");
  EXPECT_EQ(text_of(*module, 3), "reduce.h:7, inlined at softmax.cu:42, inlined at softmax.cu:80");
}

TEST(SourceLines, HeadersOfTheToolkitFollowTheLineOfTheProgram) {
  SourceLine const nvcc{"/opt/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp", 440, ""};
  SourceLine const pip{"/venv/lib/python3.12/site-packages/nvidia/cu13/include/cccl/cub/warp.cuh", 9, ""};
  SourceLine const own{"/src/cuda/include/warp.h", 7, ""}, outer{"/src/main.cu", 20, ""};
  auto const text = [](std::vector<SourceLine> const& lines) { return to_string(lines); };
  EXPECT_EQ(text({nvcc, own, outer}), "warp.h:7 (in sm_30_intrinsics.hpp:440), inlined at main.cu:20");
  EXPECT_EQ(text({nvcc, pip, outer}), "main.cu:20 (in sm_30_intrinsics.hpp:440)");
  EXPECT_EQ(text({nvcc, pip}), "sm_30_intrinsics.hpp:440, inlined at warp.cuh:9");
  EXPECT_EQ(text({own, nvcc}), "warp.h:7, inlined at sm_30_intrinsics.hpp:440");
}

TEST(SourceLines, CodeWithoutALineHasNone) {
  auto const module = module_of(".loc 1 8 3\ntrap;\n.loc 1 0 3\ntrap;\n");
  EXPECT_EQ(text_of(*module, 1), "");
}

TEST(SourceLines, WhatTheTextDoesNotDefineIsNamedAsWellAsPossible) {
  auto const module = module_of(".loc 9 5 1, function_name $nowhere, inlined_at 1 6 2\ntrap;\n");
  EXPECT_EQ(full_text_of(*module, 0), "file 9:5 \n/src/softmax.cu:6 \n");
}

TEST(SourceLines, NamesAreDemangledWithoutTheUnitOfSeparateCompilation) {
  EXPECT_EQ(demangled("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("__nv_static_24__75c6ebd2_7_main_cu_main__Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("__nv_static_24__75c6ebd2_7_main_cu_main_add"), "add");
  EXPECT_EQ(demangled("_ZN38_INTERNAL_05d7c2cd_8_image_cu_e56b745c3lib7weightsE"), "lib::weights");
  EXPECT_EQ(demangled("__nv_static_99_short"), "__nv_static_99_short");
  EXPECT_EQ(demangled("__nv_static_x"), "__nv_static_x");
}

}}  // namespace cuda_cpu::ptx
