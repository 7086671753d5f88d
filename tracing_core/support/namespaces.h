// Lets the private namespaces use the helpers of tracing::support without naming it.
#pragma once

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

namespace support {
}
namespace internal {
using namespace support;
}
namespace formatting {
using namespace support;
}
namespace environment {
using namespace support;
}

}}  // namespace tracing::v1
