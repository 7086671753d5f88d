// error_text(): the names and meanings of the driver's error codes, available without a driver; lost_with(): what an
// error leaves unusable.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/cuda/driver_api.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Returns the name of the code in cuda.h, such as CUDA_ERROR_ILLEGAL_ADDRESS. For a code that is not in our table,
/// asks `driver`; returns an empty text if `driver` is null or does not know the code. The text is in static storage.
/// Thread-safe.
std::string_view error_name(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// Returns what the code means, and often what to do, in one sentence without a full stop. Otherwise as error_name().
std::string_view error_description(CUresult code, DriverApi const* driver = nullptr) noexcept;

/// Returns number, name and description: "700 CUDA_ERROR_ILLEGAL_ADDRESS: a kernel ...". Thread-safe.
std::string error_text(CUresult code, DriverApi const* driver = nullptr);

/// The thing that is unusable after an error: every later call that needs it fails, usually with the same code.
enum class Lost : std::uint8_t { nothing, context, process };

/// Returns what is lost with this code according to cuda.h; Lost::nothing if cuda.h does not say.
Lost lost_with(CUresult code) noexcept;

}}}  // namespace tracing::v1::cuda
