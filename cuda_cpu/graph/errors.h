// Errors of the stand-ins for NVIDIA's libraries: the names of the codes, and how a stand-in reports its own errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string_view>

namespace cuda_cpu::graph {

/// The codes of driver and runtime have the same numbers.
constexpr cudaError_t to_error(CUresult result) noexcept { return static_cast<cudaError_t>(result); }
constexpr cudaError_t to_error(cudaError_t error) noexcept { return error; }

/// Returns the name of a code as cudaGetErrorName() does, null-terminated; "unrecognized error code" for other numbers.
char const* error_name(cudaError_t error) noexcept;

/// Returns the text of cudaGetErrorString() and cuGetErrorString(), which are equal; error_description() for a code
/// that this device never returns.
char const* error_string(cudaError_t error) noexcept;

/// Returns what the code means. A literal, so null-terminated; the name of the code if nothing else is known.
std::string_view error_description(cudaError_t error) noexcept;

/// Reports an error that the stand-in finds itself, without a failed call of the driver: as an event, and on stderr if
/// no subscriber gets errors. Returns `error`.
cudaError_t refuse(cudaError_t error, std::string_view message) noexcept;

/// Adds a message to an error that the driver has reported: writes it to stderr if no subscriber gets errors.
void explain(std::string_view message) noexcept;
/// True after explain() on this thread, until the next call begins.
bool& was_explained() noexcept;

}  // namespace cuda_cpu::graph
