// The names and meanings of the driver's error codes, available without a driver, and what an error leaves unusable.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/cuda/driver_api.h"

namespace tracing::inline v1::cuda {

/// The name of the code in cuda.h, such as CUDA_ERROR_ILLEGAL_ADDRESS. For a code that is not in our table, asks
/// `driver`; empty if that is null or does not know the code. Static storage. Thread-safe.
std::string_view error_name(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// What the code means, and often what to do, in one sentence without a full stop. Otherwise as error_name().
std::string_view error_description(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// Number, name and description: "700 CUDA_ERROR_ILLEGAL_ADDRESS: a kernel ...". Thread-safe.
std::string error_text(CUresult code, DriverApi const* driver = nullptr);

/// What is unusable after an error: every later call that needs it fails, usually with the same code.
enum class Lost : std::uint8_t { nothing, context, process };

/// What is lost with this code according to cuda.h; nothing if it does not say.
Lost lost_with(CUresult code) noexcept;

}  // namespace tracing::inline v1::cuda
