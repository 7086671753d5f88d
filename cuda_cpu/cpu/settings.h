// Declares with_environment(), which adds the settings in the environment to the options of the device.
#pragma once

#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"

namespace cuda_cpu::cpu {

/// Reads the variables by `get`, which returns null for a variable that is not set. Appends a line about each bad value
/// to `reports`; a bad value counts as unset.
CpuDriverOptions with_environment(CpuDriverOptions options, char const* (*get)(char const* name), std::string& reports);

}  // namespace cuda_cpu::cpu
