#include "testlog/framework.h"

#include <atomic>

namespace testlog { inline namespace v1 { namespace framework {
namespace {

constexpr Framework kNothing;
constinit std::atomic<Framework const*> of_process{&kNothing};

}  // namespace

Framework const& current() noexcept { return *of_process.load(std::memory_order_relaxed); }
void set_current(Framework const& framework) noexcept { of_process.store(&framework, std::memory_order_relaxed); }

}}}  // namespace testlog::v1::framework
