// with_environment() adds what the environment says to the options of the device.
#pragma once

#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"

namespace cuda_cpu::cpu {

/// Reads the variables by `get`, which returns null for one that is not set. Appends a line about each bad value, which
/// counts as unset, to `reports`.
CpuDriverOptions with_environment(CpuDriverOptions options, char const* (*get)(char const* name), std::string& reports);

}  // namespace cuda_cpu::cpu
