// Declares the sources of the kernels, for compilation with NVRTC.
#pragma once

#include <string_view>

namespace cuda_tests {

extern std::string_view const kFaultsText;
extern std::string_view const kHistogramText;
extern std::string_view const kIdentityText;
extern std::string_view const kMatmulText;
extern std::string_view const kReduceText;
extern std::string_view const kSaxpyText;
extern std::string_view const kScanText;
extern std::string_view const kSoftmaxText;
extern std::string_view const kTransposeText;

}  // namespace cuda_tests
