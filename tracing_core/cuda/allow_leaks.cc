#include "tracing_core/cuda/allow_leaks.h"

#include <atomic>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

constinit std::atomic<unsigned> count{0};

}  // namespace

AllowLeaks::AllowLeaks() noexcept { ++count; }
AllowLeaks::~AllowLeaks() { --count; }
bool AllowLeaks::exists() noexcept { return count != 0; }

}}}  // namespace tracing::v1::cuda
