// ContextCarrier: carries a context, besides the current span, to the threads on which with_current_span() runs work.
#pragma once

#include <cstdint>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Lets a test framework carry the running test. Any thread may call all three functions.
struct ContextCarrier {
  /// Returns the context of the calling thread; zero if it has no context.
  std::uint32_t (*capture)() noexcept;
  /// Begins work of this context, which is not zero, on the calling thread. Returns the thread's previous context.
  std::uint32_t (*adopt)(std::uint32_t context) noexcept;
  /// Ends this work; `context` is the result of adopt().
  void (*restore)(std::uint32_t context) noexcept;
};

/// Sets the carrier of the process, which must live as long as the process. Null removes the carrier.
void set_context_carrier(ContextCarrier const* carrier) noexcept;

namespace internal {

// Returns the context of the calling thread; zero without a carrier.
std::uint32_t capture_context() noexcept;

// Makes the calling thread work for a context while this object exists; zero changes nothing.
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
}}  // namespace tracing::v1
