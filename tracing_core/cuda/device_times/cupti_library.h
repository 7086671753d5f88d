// load_cupti(): fills a CuptiApi from the machine's CUPTI, or explains why it cannot.
#pragma once

#include <string>

#include "tracing_core/cuda/device_times/cupti_api.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// A CUPTI, or the reason why it cannot be used.
struct CuptiLibrary {
  CuptiApi api{};             ///< has all calls, or no calls
  std::string explanation{};  ///< what is missing and how to fix it; empty if CUPTI can be used

  explicit operator bool() const noexcept { return explanation.empty(); }
};

/// Opens the file `path` or, if `path` is empty, libcupti.so.13 or libcupti.so.12 on the loader's path, or in the
/// folders of CUDA_PATH or /usr/local/cuda. Never closes it. Throws only std::bad_alloc. Thread-safe.
CuptiLibrary load_cupti(std::string const& path = {});

}}}  // namespace tracing::v1::cuda
