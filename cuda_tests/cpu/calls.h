// The calls of the CPU backend, with the driver's signatures, under their names in the table of calls.
#pragma once

#include <type_traits>

#include "tracing_core/cuda/driver_api.h"

namespace cuda_tests::cpu {

#define CUDA_TESTS_DECLARE(member, symbol, version) std::remove_pointer_t<PFN_##symbol##_v##version> member;
TRACING_CUDA_DRIVER_CALLS(CUDA_TESTS_DECLARE)
#undef CUDA_TESTS_DECLARE

}  // namespace cuda_tests::cpu
