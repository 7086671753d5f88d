#include "tracing_core/model/instant.h"

#include <ctime>

namespace tracing::inline v1 {

Instant Instant::now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec};
}

}  // namespace tracing::inline v1
