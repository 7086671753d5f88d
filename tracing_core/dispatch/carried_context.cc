#include "tracing_core/dispatch/carried_context.h"

#include <atomic>

namespace tracing { inline namespace v1 {
namespace {
constinit std::atomic<ContextCarrier const*> context_carrier{nullptr};
}

void set_context_carrier(ContextCarrier const* carrier) noexcept {
  context_carrier.store(carrier, std::memory_order_release);
}

std::uint32_t internal::capture_context() noexcept {
  ContextCarrier const* const carrier = context_carrier.load(std::memory_order_acquire);
  return carrier == nullptr ? 0 : carrier->capture();
}

internal::AdoptedContext::AdoptedContext(std::uint32_t context) noexcept
    : carrier_(context == 0 ? nullptr : context_carrier.load(std::memory_order_acquire)) {
  if (carrier_ != nullptr) before_ = carrier_->adopt(context);
}

internal::AdoptedContext::~AdoptedContext() {
  if (carrier_ != nullptr) carrier_->restore(before_);
}

}}  // namespace tracing::v1
