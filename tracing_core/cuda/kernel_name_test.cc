#include "tracing_core/cuda/kernel_name.h"

#include <gtest/gtest.h>

namespace tracing::cuda {
namespace {

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
      {"", ""},
  };
  for (auto const& [symbol, name] : rows) EXPECT_EQ(kernel_name(symbol), name) << symbol;
}

}  // namespace
}  // namespace tracing::cuda
