// The standard library and fmt are not ours to protect from macros: they come first.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <exception>
#include <iosfwd>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tests/hygiene/hostile_names.inc"

#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

#if debug != 0 || info != 1
#error "a header of ours changed a macro of the user's"
#endif

namespace hygiene {

struct Pair {
  int first;
  int second;
};
TRACE_FIELDS(Pair, first, second)
enum class Mode { None_, Some };
TRACE_ENUM(Mode, None_, Some)

void hostile_names_before(int n) {
  Pair const pair{n, debug};
  TRACE_SPAN(debug, "scope", n, tracing::kv("pair", pair));
  TRACE_FN(info, n);
  TRACE_PERF("perf", n);
  TRACE_PERF_AT(warn, "perf", n);
  TRACE_PERF_AS(named, "perf", n);
  if (named.elapsed_ns() == 0) TRACE_PERF_EVENT("no time {}", n);
  TRACE_PERF_EVENT("measured {}", n);
  auto const handle = TRACE_MAKE_SPAN(trace, "handle", n);
  TRACE_ERROR("error {}", n);
  TRACE_WARN("warn {}", n);
  TRACE_INFO("info {}", n);
  TRACE_DEBUG("debug {}", n);
  TRACE_TRACE("trace {}", n);
  TRACE_LOG(debug, "log {}", n, tracing::kv("mode", Mode::Some));
  TRACE_VALUES(warn, n);
  if (TRACE_ENABLED(error)) TRACE_LOG(info, "enabled");
}

}  // namespace hygiene
