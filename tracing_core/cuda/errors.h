// Declares what the driver's error codes say, without a driver, and which of them end a context or a process.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/cuda/driver_api.h"

namespace tracing::inline v1::cuda {

/// The code's name as in cuda.h, such as CUDA_ERROR_ILLEGAL_ADDRESS. A code that our table does not hold is asked of
/// `driver`; where that is null or does not know it either, the name is empty. Lives for ever. Thread-safe.
std::string_view error_name(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// What the code means, in one sentence without its full stop, and what is usually to be done. Otherwise as error_name().
std::string_view error_description(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// Both, for people: "700 CUDA_ERROR_ILLEGAL_ADDRESS: a kernel read or wrote ...". Thread-safe.
std::string error_text(CUresult code, DriverApi const* driver = nullptr);

/// What is of no more use after an error: every later call that needs it fails, in most cases with the same code.
enum class Lost : std::uint8_t { nothing, context, process };

/// What cuda.h says is lost with this code. Codes that it is silent about, or that we do not know, lose nothing.
Lost lost_with(CUresult code) noexcept;

}  // namespace tracing::inline v1::cuda
