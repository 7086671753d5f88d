// A header of a library that has its own names for statements, so that its statements can be switched off separately.
#pragma once

#define TRACING_OPTIONAL_LONG_NAMES
#include "tracing_optional.h"

#if !defined(GATED_TRACING)
#define GATED_TRACING TRACING_OPTIONAL
#endif
#if defined(GATED_PLAIN)
#define GATED_SPAN(...) static_assert(true, "")
#define GATED_INFO(...) static_cast<void>(0)
namespace gated {
namespace trace = ::tracing::without_testlog;
}
#elif GATED_TRACING
#define GATED_SPAN TRACING_SPAN
#define GATED_INFO TRACING_INFO
namespace gated {
namespace trace = ::tracing;
}
#else
#define GATED_SPAN TRACING_OFF_SPAN
#define GATED_INFO TRACING_OFF_INFO
namespace gated {
namespace trace = ::tracing::without_testlog;
}
#endif
#if defined(TRACE_INFO)
#error "the header gives its users a short name"
#endif

namespace gated {

inline int work(int items) {
  GATED_SPAN(debug, "gated", items);
  GATED_INFO("working on {} items", items);
  auto one = trace::with_current_span([items] { return items > 0 ? 1 : 0; });
  return items + one();
}
int more(int items);

}  // namespace gated
