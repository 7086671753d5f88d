// Calls by address, recursion, the heap and the stack: testdata/language.cu, compiled by nvcc, and PTX by hand.
#include <cmath>

#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

class Language : public testing::TestWithParam<char const*> {
 protected:
  Language() { device.load(read_testdata(std::string("language.") + GetParam())); }

  TestDevice device;
};
INSTANTIATE_TEST_SUITE_P(All, Language, testing::Values("75", "90"));

TEST_P(Language, LanesCallVirtualFunctionsOfDifferentClasses) {
  auto* const out = device.allocate<float>(64);
  EXPECT_EQ(text_of(device.run("virtual_calls", {{1}, {64}, 0}, out)), "");
  for (int i = 0; i < 64; ++i) {
    auto const f = static_cast<float>(i);
    ASSERT_EQ(out[i], i % 2 != 0 ? f * f + f + 3 : 3 * f * f + 3 * f) << i;
  }
}

TEST_P(Language, TablesOfFunctionsAreInGlobalAndConstantMemory) {
  auto* const out = device.allocate<float>(40);
  for (int which : {0, 1, 2}) {
    EXPECT_EQ(text_of(device.run("tables", {{1}, {40}, 0}, out, which)), "");
    for (int i = 0; i < 40; ++i) {
      auto const f = static_cast<float>(i);
      float const of_table[] = {f + 2, f * 2, f - 2};
      ASSERT_EQ(out[i], of_table[(which + i) % 3] + (i % 2 == 0 ? f * 3 : f - 3) + (1 - f)) << which << ' ' << i;
    }
  }
}

TEST_P(Language, AFunctionFromOneKernelIsCalledByAnother) {
  auto* const function = device.allocate<std::uint64_t>(1);
  auto* const out = device.allocate<float>(32);
  for (int which : {0, 1}) {
    EXPECT_EQ(text_of(device.run("get_function", {{1}, {1}, 0}, function, which)), "");
    EXPECT_EQ(text_of(device.run("call_function", {{1}, {32}, 0}, out, *function)), "");
    for (int i = 0; i < 32; ++i) ASSERT_EQ(out[i], which != 0 ? i + 2 : i * 2);
  }
  // The same module, loaded again, has its functions at other addresses.
  TestDevice other;
  other.load(read_testdata(std::string("language.") + GetParam()));
  auto const fault = other.run("call_function", {{1}, {32}, 0}, out, *function);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::illegal_instruction);
  EXPECT_NE(fault->message.find("which is no function of this module"), fault->message.npos) << fault->message;
}

TEST_P(Language, CallsByAddressPassStructures) {
  std::vector<std::array<int, 10>> values(33);
  for (int k = 0; k < 10; ++k) values[0][static_cast<std::size_t>(k)] = 100 * k;
  auto* const out = device.upload(values);
  EXPECT_EQ(text_of(device.run("large_arguments", {{1}, {32}, 0}, out)), "");
  for (int i = 0; i < 32; ++i)
    for (int k = 0; k < 10; ++k)
      ASSERT_EQ(out[1 + i][static_cast<std::size_t>(k)], 100 * k + (k == i % 10 ? i : 0)) << i << ' ' << k;
}

TEST_P(Language, FunctionsCallThemselves) {
  auto* const out = device.allocate<int>(96);
  EXPECT_EQ(text_of(device.run("recursion", {{1}, {96}, 0}, out)), "");
  int const fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
  for (int i = 0; i < 96; ++i) ASSERT_EQ(out[i], fibonacci[i % 16]) << i;
}

TEST_P(Language, RecursionEndsAtAStatedDepth) {
  auto const nested = [](unsigned n) {
    unsigned value = 1;
    for (unsigned i = 1; i <= n; ++i) value = value * 3 + i + (value & 3);
    return value;
  };
  auto* const out = device.allocate<unsigned>(1024);
  EXPECT_EQ(text_of(device.run("deep", {{2}, {64}, 0}, out, 1000u)), "");
  EXPECT_EQ(out[62], nested(1000));
  EXPECT_EQ(out[63], nested(1001));
  auto const fault = device.run("deep", {{1}, {64}, 0}, out, 5000u);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stack_overflow);
  EXPECT_EQ(fault->kernel, "deep");
  EXPECT_GT(fault->line, 0);
  EXPECT_NE(fault->message.find("more than 1024 nested calls"), fault->message.npos) << fault->message;
  // In a large block each thread has less memory.
  EXPECT_EQ(text_of(device.run("deep", {{1}, {1024}, 0}, out, 500u)), "");
  EXPECT_EQ(out[1023], nested(501));
}

TEST_P(Language, MemoryOfTheHeapIsSharedByKernelsUntilItIsFreed) {
  auto* const pointers = device.allocate<std::uint64_t>(64);
  auto* const out = device.allocate<int>(64);
  EXPECT_EQ(text_of(device.run("on_heap", {{1}, {64}, 0}, pointers, 100)), "");
  EXPECT_FALSE(device.memory.free(pointers[0])) << "the host does not free it";
  EXPECT_EQ(text_of(device.run("from_heap", {{1}, {64}, 0}, pointers, out, 100)), "");
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out[i], 100 * i + 4950);
  auto const again = device.run("from_heap", {{1}, {64}, 0}, pointers, out, 100);
  ASSERT_TRUE(again) << "it was freed";
  EXPECT_EQ(again->kind, FaultKind::illegal_address);
  EXPECT_EQ(again->address, pointers[0]);
}

TEST_P(Language, TheHeapHasALimit) {
  auto* const pointers = device.allocate<std::uint64_t>(64);
  EXPECT_EQ(text_of(device.run("on_heap", {{1}, {64}, 0}, pointers, 1 << 20)), "");
  EXPECT_EQ(std::count(pointers, pointers + 64, 0u), 62) << "two of 4 MiB fit into 8 MiB";
  device.memory.clear_heap();
  device.memory.set_heap_limit(std::uint64_t{20} << 20);
  EXPECT_EQ(text_of(device.run("on_heap", {{1}, {64}, 0}, pointers, 1 << 20)), "");
  EXPECT_EQ(std::count(pointers, pointers + 64, 0u), 59);
}

TEST_P(Language, MemoryOfTheStackIsThatOfOneCall) {
  auto* const out = device.allocate<int>(40);
  // 40 calls of 4,000 bytes each need more memory than the stack has at once.
  EXPECT_EQ(text_of(device.run("stack", {{1}, {40}, 0}, out, 1000)), "");
  for (int i = 0; i < 40; ++i) {
    int total = 0;
    for (int k = 0; k < 40; ++k) total += (i + k) * (1000 * 999 / 2);  // k * 7 % 1000 is a permutation
    ASSERT_EQ(out[i], total) << i;
  }
  auto const fault = device.run("stack", {{1}, {40}, 0}, out, 20000);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stack_overflow);
  EXPECT_NE(fault->message.find("alloca of 80000 bytes, where a thread has 65536 in all"), fault->message.npos)
      << fault->message;
}

TEST_P(Language, ManagedVariablesAreGlobalVariables) {
  auto const variable = device.program->find_variable("counter");
  ASSERT_EQ(variable.bytes, sizeof(int));
  EXPECT_EQ(text_of(device.run("managed", {{2}, {50}, 0})), "");
  EXPECT_EQ(*reinterpret_cast<int*>(variable.address), 105);
  EXPECT_TRUE(device.program->module().find_variable("counter")->managed);
}

TEST_P(Language, BytesAreCopiedAndSet) {
  std::vector<char> const from = {1, 2, 3, 4, 5, 6, 7};
  auto* const to = device.allocate<char>(14);
  EXPECT_EQ(text_of(device.run("bytes", {{1}, {1}, 0}, to, device.upload(from), std::size_t{7})), "");
  EXPECT_EQ((std::vector<char>(to, to + 14)), (std::vector<char>{1, 2, 3, 4, 5, 6, 7, 3, 3, 3, 3, 3, 3, 3}));
}

class ByHand : public testing::Test {
 protected:
  // Runs a body in 32 threads. Thread i has i in %r1 and stores %r9.
  std::optional<Fault> run(std::string const& body, std::string const& declarations = "") {
    device.load(
        ".version 9.0\n.target sm_90\n.address_size 64\n" + declarations +
        "\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .pred %p<4>;\n"
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; ld.param.u64 %rd8, [p]; mad.wide.u32 %rd8, %r1, 4, %rd8;\n" +
        body + "\nst.global.u32 [%rd8], %r9; ret; }\n");
    out = device.allocate<std::uint32_t>(32);
    return device.run("k", {{1}, {32}, 0}, out);
  }

  TestDevice device;
  std::uint32_t* out = nullptr;
};

TEST_F(ByHand, StackrestoreGivesBackWhatAllocaTook) {
  checks_forms({"alloca.u64", "alloca.u32", "stacksave.u64", "stackrestore.u64", "stacksave.u32", "stackrestore.u32"});
  // The second and third allocations begin at the same place, after 12 bytes, so the store to the third overwrites the
  // store to the second.
  EXPECT_EQ(text_of(run("alloca.u64 %rd1, 12, 4; stacksave.u64 %rd2; alloca.u64 %rd3, 16, 16; stackrestore.u64 %rd2; "
                        "alloca.u64 %rd4, 16, 16; st.local.u32 [%rd1+8], %r1; st.local.u32 [%rd3], 5; "
                        "st.local.u32 [%rd4], 7; ld.local.u32 %r9, [%rd3]; ld.local.u32 %r2, [%rd1+8]; "
                        "mad.lo.u32 %r9, %r2, 100, %r9; cvt.u32.u64 %r3, %rd4; and.b32 %r3, %r3, 15; "
                        "add.u32 %r9, %r9, %r3;")),
            "");
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], 100 * i + 7) << i;
  EXPECT_EQ(text_of(run("alloca.u32 %r2, 4; stacksave.u32 %r3; stackrestore.u32 %r3; alloca.u32 %r4, 4; "
                        "sub.u32 %r9, %r4, %r2;")),
            "");
  EXPECT_EQ(out[31], 8u) << "aligned to eight bytes";
  auto const fault = run("mov.u64 %rd1, 1; stackrestore.u64 %rd1;");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::illegal_instruction);
}

TEST_F(ByHand, ACallOfNoFunctionIsAFault) {
  std::string const declarations =
      ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 7; "
      "st.param.b32 [r], %x; ret; }\n.func g(.param .b64 a) { ret; }\n";
  std::string const call =
      " { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; type: .callprototype (.param .b32 _) _ (.param .b32 _); "
      "call (r), %rd1, (a), type; ld.param.b32 %r9, [r]; }";
  EXPECT_EQ(text_of(run("mov.u64 %rd1, f;" + call, declarations)), "");
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], i + 7);
  for (std::string const bad : {"mov.u64 %rd1, 0;", "mov.u64 %rd1, f; add.u64 %rd1, %rd1, 1;", "mov.u64 %rd1, g;"}) {
    auto const fault = run("mov.u64 %rd2, f; " + bad + call, declarations);
    ASSERT_TRUE(fault) << bad;
    EXPECT_EQ(fault->kind, FaultKind::illegal_instruction);
    EXPECT_EQ(fault->line, 9) << fault->message;
  }
}

TEST_F(ByHand, TheCodeOfAFunctionIsNoMemory) {
  auto const fault = run("mov.u64 %rd1, f; ld.u32 %r9, [%rd1];", ".func f { ret; }");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::illegal_address);
}

TEST_F(ByHand, FreeTakesOnlyWhatMallocGave) {
  std::string const declarations =
      ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n";
  std::string const allocate =
      "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 24; call (r), malloc, (a); ld.param.b64 %rd1, [r]; }\n";
  std::string const release = "{ .param .b64 a; st.param.b64 [a], %rd1; call free, (a); }\n";
  EXPECT_EQ(text_of(run(allocate + release + "mov.u64 %rd1, 0;" + release, declarations)), "");
  for (std::string const& body :
       {allocate + "add.u64 %rd1, %rd1, 8;" + release, allocate + release + release, "mov.u64 %rd1, %rd8;" + release}) {
    auto const fault = run(body, declarations);
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::illegal_address);
    EXPECT_NE(fault->message.find("which malloc in a kernel did not give"), fault->message.npos) << fault->message;
  }
  for (std::string const& body : {allocate + "ld.global.u32 %r9, [%rd1+24];",
                                  allocate + "st.global.u32 [%rd1], 1;" + release + "ld.global.u32 %r9, [%rd1];"}) {
    auto const fault = run(body, declarations);
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::illegal_address);
    EXPECT_NE(fault->message.find("24 bytes allocated by malloc in a kernel"), fault->message.npos) << fault->message;
  }
}

}}  // namespace cuda_cpu
