// Declares what is asked of the dynamic loader: keeping a library loaded, and finding second copies of this one.
#pragma once

namespace tracing::inline v1::internal {

/// Keeps the shared library that holds `address` loaded until the process ends, also after dlclose. Nothing to do for the
/// executable. Thread-safe; cheap after the first call for a library. Takes the loader's lock: hold none of ours.
void keep_loaded(void const* address) noexcept;

/// Calls `report(context, here, there)` with the paths of the libraries where another copy of tracing::core is loaded
/// besides this one.
void find_second_copies(void (*report)(void* context, char const* here, char const* there), void* context) noexcept;

}  // namespace tracing::inline v1::internal
