// What with_current_span() carries to other threads besides the span.
#pragma once

#include <cstdint>

namespace tracing::inline v1 {

/// Lets a test framework carry the running test. All functions may be called by any thread.
struct ContextCarrier {
  /// The context of the calling thread; zero for none.
  std::uint32_t (*capture)() noexcept;
  /// The calling thread begins work of this context, which is not zero. Returns the context that it had.
  std::uint32_t (*adopt)(std::uint32_t context) noexcept;
  /// The work has ended; `context` is what adopt() returned.
  void (*restore)(std::uint32_t context) noexcept;
};

/// Sets the carrier of the process, which must live as long as the process. Null: none.
void set_context_carrier(ContextCarrier const* carrier) noexcept;

namespace internal {

// Zero without a carrier.
std::uint32_t capture_context() noexcept;

// While it exists, the calling thread works for a context; zero changes nothing.
class AdoptedContext {
 public:
  explicit AdoptedContext(std::uint32_t context) noexcept;
  AdoptedContext(AdoptedContext const&) = delete;
  AdoptedContext& operator=(AdoptedContext const&) = delete;
  ~AdoptedContext();

 private:
  ContextCarrier const* carrier_;  // null if nothing changed
  std::uint32_t before_ = 0;
};

}  // namespace internal
}  // namespace tracing::inline v1
