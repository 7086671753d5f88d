// Declares what is asked of the dynamic loader: keeping a library loaded, and finding other copies of this one.
#pragma once

namespace tracing::inline v1::internal {

/// Keeps the shared library that holds `address` loaded until the process ends, also after dlclose. Nothing to do for the
/// executable. Thread-safe; cheap after the first call for a library. Takes the loader's lock: hold none of ours.
void keep_loaded(void const* address) noexcept;

struct CopyNames {
  char earlier[1024];  ///< paths of the objects that hold the copies
  char own[1024];
};

/// Whether a copy of tracing::core is loaded that was loaded before this one. So of several copies, each of which asks once,
/// all but the first find one; and a copy whose functions the loader replaced by those of the first never asks.
bool find_earlier_copy(CopyNames& names) noexcept;

}  // namespace tracing::inline v1::internal
