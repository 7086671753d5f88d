// keep_loaded(): keeps a shared library loaded whose static data the process still uses.
#pragma once

namespace tracing::inline v1::internal {

/// Keeps the shared library that holds `address` loaded until the process ends, even after dlclose(). Does nothing for
/// the executable. Thread-safe; cheap after the first call for a library. Takes the loader's lock, so hold none of
/// ours.
void keep_loaded(void const* address) noexcept;

}  // namespace tracing::inline v1::internal
