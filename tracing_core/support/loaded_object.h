// keep_loaded(): keeps a shared library loaded while the process still uses its static data.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Keeps the shared library that holds `address` loaded until the process ends, even after dlclose(). Does nothing for
/// the executable. Thread-safe; the first call for a library is expensive, later calls are cheap. Takes the loader's
/// lock, so the caller must hold no lock of this library.
void keep_loaded(void const* address) noexcept;

}}}  // namespace tracing::v1::support
