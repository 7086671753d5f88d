#include "tracing_core/support/running_test.h"

#include <atomic>

namespace tracing { inline namespace v1 { namespace support {
namespace {

constinit std::atomic<char const*> running{nullptr};

}  // namespace

void set_running_test(char const* name) noexcept { running.store(name, std::memory_order_release); }

char const* running_test() noexcept { return running.load(std::memory_order_acquire); }

}}}  // namespace tracing::v1::support
