#include "tracing_core/cuda/compile_log.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tracing::cuda { namespace {

std::string dump(std::string_view log) {
  CompileLog const read = parse_compile_log(log);
  std::string text;
  for (CompileMessage const& message : read.messages) {
    static constexpr char const* kNames[] = {"remark", "warning", "error"};
    text += kNames[static_cast<int>(message.severity)];
    if (!message.file.empty()) text.append(" ").append(message.file).append(":").append(std::to_string(message.line));
    text.append(" <").append(message.text).append(">");
    if (!message.source_text.empty()) text.append(" `").append(message.source_text).append("`");
    if (!message.context.empty()) text.append(" [").append(message.context).append("]");
    text += '\n';
  }
  for (KernelUsage const& usage : read.usage) {
    text += usage.name + " " + std::to_string(usage.registers) + " registers, shared " +
            std::to_string(usage.shared_bytes) + ", stack " + std::to_string(usage.stack_bytes) + ", spills " +
            std::to_string(usage.spill_store_bytes) + " " + std::to_string(usage.spill_load_bytes) + "\n";
  }
  return text;
}

struct Case {
  char const* what;
  std::string_view log;
  char const* expected;
};

class ParseCompileLog : public ::testing::Test {
 protected:
  template <std::size_t N>
  void expect(Case const (&cases)[N]) {
    for (Case const& c : cases) EXPECT_EQ(dump(c.log), c.expected) << c.what;
  }
};

TEST_F(ParseCompileLog, ReadsMessagesOfNvrtc) {
  expect({
      {"nothing", "", ""},
      {"a NUL, as an empty log has it", {"\0", 1}, ""},
      {"an error with the line of source",
       "w2.cu(5): error: identifier \"undefined_symbol\" is undefined\n"
       "    float y[4]; y[0] = x[1]; x[2] = undefined_symbol;\n"
       "                                    ^\n\n"
       "1 error detected in the compilation of \"w2.cu\".\n",
       "error w2.cu:5 <identifier \"undefined_symbol\" is undefined> `float y[4]; y[0] = x[1]; x[2] = "
       "undefined_symbol;`\n"},
      {"a numbered warning, a note on suppression, a remark",
       "w3.cu(1): warning #1105-D: #warning directive: hello there\n"
       "  #warning hello there\n"
       "   ^\n\n"
       "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
       "w3.cu(2): remark #20200-D: #pragma message: \"hi\"\n"
       "  #pragma message \"hi\"\n"
       "                      ^\n\n",
       "warning w3.cu:1 <#warning directive: hello there> `#warning hello there`\n"
       "remark w3.cu:2 <#pragma message: \"hi\"> `#pragma message \"hi\"`\n"},
      {"a number without a letter, as in errors of CUDA 12", "k.cu(3): error #20: identifier \"x\" is undefined\n",
       "error k.cu:3 <identifier \"x\" is undefined>\n"},
      {"no line of source, as in some messages of CUDA 12",
       "k.cu(3): error: identifier \"x\" is undefined\n\nk.cu(4): warning: variable \"y\" was declared but never "
       "referenced\n\n"
       "1 error detected in the compilation of \"k.cu\".\n",
       "error k.cu:3 <identifier \"x\" is undefined>\nwarning k.cu:4 <variable \"y\" was declared but never "
       "referenced>\n"},
      {"a missing header",
       "w.cu(1): catastrophic error: cannot open source file \"nothing.h\"\n"
       "  #include \"nothing.h\"\n"
       "                      ^\n\n"
       "1 catastrophic error detected in the compilation of \"w.cu\".\nCompilation terminated.\n",
       "error w.cu:1 <cannot open source file \"nothing.h\"> `#include \"nothing.h\"`\n"},
      {"an instantiation",
       "e2.cu(2): error: static assertion failed with \"no\"\n"
       "  template<class T> struct B{ static_assert(sizeof(T)==1,\"no\"); };\n"
       "                              ^\n"
       "          detected during:\n"
       "            instantiation of class \"B<T> [with T=int]\" at line 3\n",
       "error e2.cu:2 <static assertion failed with \"no\"> `template<class T> struct B{ "
       "static_assert(sizeof(T)==1,\"no\"); };`"
       " [detected during:\n            instantiation of class \"B<T> [with T=int]\" at line 3]\n"},
      {"a message of two lines",
       "e2.cu(1): error: static assertion failed with \"multi\nline\"\n"
       "  static_assert(sizeof(int)==3, \"multi\\nline\");\n"
       "  ^\n\n",
       "error e2.cu:1 <static assertion failed with \"multi\nline\"> `static_assert(sizeof(int)==3, "
       "\"multi\\nline\");`\n"},
      {"the end of the source, and a note",
       "At end of source: error: expected a \"}\"\n"
       "eof.cu(1): note #3196-D: to match this \"{\"\n"
       "  __global__ void k() {\n"
       "                      ^\n",
       "error <expected a \"}\">\nremark eof.cu:1 <to match this \"{\"> `__global__ void k() {`\n"},
      {"options", "nvrtc: error: invalid value for --gpu-architecture (-arch)\n",
       "error <invalid value for --gpu-architecture (-arch)>\n"},
      {"a header included by an option", "Command-line error: cannot open source file \"nothing\"\n",
       "error <cannot open source file \"nothing\">\n"},
      {"the builtins library",
       "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n  Make sure that libnvrtc-builtins.so.13.0 is "
       "installed correctly.\n",
       "error <failed to open libnvrtc-builtins.so.13.0.\n  Make sure that libnvrtc-builtins.so.13.0 is installed "
       "correctly.>\n"},
      {"a name expression",
       "__nv_name_map(2): error: identifier \"nope\" is undefined\n"
       "  #pragma nv_mangled_name nope<3>\n"
       "                          ^\n",
       "error __nv_name_map:2 <identifier \"nope\" is undefined> `#pragma nv_mangled_name nope<3>`\n"},
  });
}

TEST_F(ParseCompileLog, ReadsMessagesOfPtxas) {
  expect({
      {"one function",
       "ptxas info    : 0 bytes gmem\n"
       "ptxas info    : Compiling entry function 'saxpy' for 'sm_90'\n"
       "ptxas info    : Function properties for saxpy\n"
       "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
       "ptxas info    : Used 10 registers, used 0 barriers\n"
       "ptxas info    : Compile time = 14.663 ms\n",
       "saxpy 10 registers, shared 0, stack 8, spills 12 16\n"},
      {"two functions and one that they call, as in CUDA 12",
       "ptxas info    : 0 bytes gmem\n"
       "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
       "ptxas info    : Function properties for a\n"
       "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
       "ptxas info    : Function properties for helper\n"
       "    64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
       "ptxas info    : Used 32 registers, 2048 bytes smem, 380 bytes cmem[0]\n"
       "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
       "ptxas info    : Function properties for b\n"
       "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
       "ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 4096 bytes smem\n",
       "a 32 registers, shared 2048, stack 0, spills 0 0\nb 40 registers, shared 4096, stack 16, spills 0 0\n"},
      {"warnings among the remarks",
       "ptxas warning : For profile sm_90 adjusting per thread register count of 16 to lower bound of 24\n"
       "ptxas warning : Registers are spilled to local memory in function 'k', 3156 bytes spill stores, 6468 bytes "
       "spill loads\n"
       "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
       "ptxas info    : Used 32 registers, used 0 barriers\n",
       "warning <For profile sm_90 adjusting per thread register count of 16 to lower bound of 24>\n"
       "warning <Registers are spilled to local memory in function 'k', 3156 bytes spill stores, 6468 bytes spill "
       "loads>\n"
       "k 32 registers, shared 0, stack 0, spills 0 0\n"},
      {"errors",
       "ptxas application ptx input, line 23; error   : Not a name of any known instruction: 'bogus'\n"
       "ptxas fatal   : Ptx assembly aborted due to errors\n",
       "error application ptx input:23 <Not a name of any known instruction: 'bogus'>\nerror <Ptx assembly aborted due "
       "to errors>\n"},
  });
}

TEST_F(ParseCompileLog, AcceptsAnyText) {
  expect({
      {"places in names and texts", "a(1): b(2).cu(3): error: f(4): warning: g\n",
       "error a(1): b(2).cu:3 <f(4): warning: g>\n"},
      {"no end", "k.cu(3): error", ""},
      {"no number", "k.cu(): error: x\nk.cu(a): error: x\n(1): error: x\n", "error <x>\n"},
      {"a caret without source", "k.cu(1): error: x\n  ^\n", "error k.cu:1 <x\n  ^>\n"},
      {"a caret after a blank line", "k.cu(1): error: expected a \"}\"\n\n  ^\n", "error k.cu:1 <expected a \"}\">\n"},
      {"source that looks like an entry", "k.cu(1): error: x\n  f(2): error: y\n  ^\n",
       "error k.cu:1 <x> `f(2): error: y`\n"},
      {"CRLF line ends", "k.cu(1): error: x\r\n  y\r\n  ^\r\n\r\n", "error k.cu:1 <x> `y`\n"},
      {"units without numbers", "ptxas info    : Used registers,  bytes smem\nUsed 3 registers\n", ""},
      {"a name without an end", "ptxas info    : Compiling entry function 'k\nptxas info    : Used 3 registers\n",
       " 3 registers, shared 0, stack 0, spills 0 0\n"},
      {"incomplete prefixes", "ptxas \nptxas a, line ; \nnvrtc: \nAt end of source: \n: error: x\n", ""},
  });
}

}}  // namespace tracing::cuda
