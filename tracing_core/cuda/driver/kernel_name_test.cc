#include "tracing_core/cuda/driver/kernel_name.h"

#include <gtest/gtest.h>

#include "tracing_core/support/cut_in_middle.h"

namespace tracing::cuda { namespace {

TEST(KernelName, IsThatOfTheSourceWithoutParameters) {
  struct {
    char const* symbol;
    char const* name;
  } const rows[] = {
      {"saxpy", "saxpy"},
      {"_Z3addPfi", "add"},
      {"_Z5saxpyIfEvPT_", "saxpy<float>"},
      {"_ZN2nn7softmaxILi4EEEvPKfPf", "nn::softmax<4>"},
      {"_Z5applyPFfPFffEE", "apply"},
      {"_Z3mapIPFffEEvT_Pf", "map<float (*)(float)>"},
      {"_ZN12_GLOBAL__N_15innerEv", "(anonymous namespace)::inner"},
      {"_Zbroken", "_Zbroken"},
      {"__nv_static_24__75c6ebd2_7_main_cu_main__Z3addPfi", "add"},
      {"__nv_static_24__75c6ebd2_7_main_cu_main_add", "add"},
      {"__nv_static_99_short", "__nv_static_99_short"},
      {"__nv_static_x", "__nv_static_x"},
      {"", ""},
  };
  for (auto const& [symbol, name] : rows) EXPECT_EQ(kernel_name(symbol), name) << symbol;
}

TEST(KernelName, IsCutInTheMiddleInMessages) {
  EXPECT_EQ(support::cut_in_middle("scale", 16), "scale");
  EXPECT_EQ(support::cut_in_middle("0123456789abcdef", 16), "0123456789abcdef");
  EXPECT_EQ(support::cut_in_middle("0123456789abcdefg", 16), "01234567...cdefg");
  EXPECT_EQ(support::cut_in_middle("0123456\u00e99abcdefghijkl", 16), "0123456...hijkl");
}

}}  // namespace tracing::cuda
