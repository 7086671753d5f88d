#pragma once

#include <cstddef>
#include <vector>

namespace blur {

/// Returns the mean of each value and its neighbours up to `radius` elements away. Runs on the current device. Throws
/// tracing::cuda::CallError.
std::vector<float> box(std::vector<float> const& values, int radius);

}  // namespace blur
