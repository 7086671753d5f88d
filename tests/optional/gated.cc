#include "gated.h"

#include "tracing_optional.h"

#if defined(GATED_PLAIN)
#undef TRACE_FN
#undef TRACE_DEBUG
#define TRACE_FN(...) static_assert(true, "")
#define TRACE_DEBUG(...) static_cast<void>(0)
#endif

namespace gated {

int more(int items) {
  TRACE_FN(debug, items);
  TRACE_DEBUG("more", items);
  return work(work(items));
}

}  // namespace gated
