// What with_current_span() carries to other threads besides the span.
#pragma once

#include <cstdint>

namespace tracing::inline v1 {

/// Lets a test framework carry the running test. Both functions may be called by any thread.
struct ContextCarrier {
  /// The context of the calling thread; zero for none.
  std::uint32_t (*capture)() noexcept;
  /// The calling thread begins work of this context, which is not zero.
  void (*adopt)(std::uint32_t context) noexcept;
};

/// Sets the carrier of the process, which must live as long as the process. Null: none.
void set_context_carrier(ContextCarrier const* carrier) noexcept;

namespace internal {

// Zero and nothing without a carrier.
std::uint32_t capture_context() noexcept;
void adopt_context(std::uint32_t context) noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
