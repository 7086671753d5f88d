// The user's variables, types and namespaces have names that the library uses, too.
#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

namespace hygiene {

namespace tracing {  // in scope, this hides the global namespace
struct Span {};
struct Callsite {};
namespace internal {
struct Level {};
}  // namespace internal
inline int kv(char const*, int) { return 0; }
}  // namespace tracing
namespace std {
struct string_view {};
}  // namespace std

void names_of_helpers() {
  int const kv = 1;
  int const empty = 2;
  int const display = 3;
  int const debug = 4;
  int const pretty = 5;
  int const target = 6;
  int const parent = 7;
  int const level = 8;
  int const span = 9;
  int const name = 10;
  int const text = 11;
  int const n = 12;
  int const callsite = 13;
  int const args = 14;
  int const statement = 15;
  int const trace = 16;
  int const info = 17;
  [[maybe_unused]] int const std = 18;
  TRACE_SPAN(info, "scope", kv, empty, display, debug, pretty, target, parent, level);
  TRACE_FN(info, kv, ::tracing::kv("empty", ::tracing::empty), ::tracing::kv("other", n));
  auto const handle = TRACE_MAKE_SPAN(trace, "handle", span, ::tracing::parent(nullptr));
  TRACE_INFO("{} {}", span, name, text, n, callsite, args, statement, ::tracing::target("own"));
  TRACE_LOG(debug, "{trace}", trace, info, ::tracing::kv("shown", ::tracing::display("x")));
  TRACE_VALUES(info, trace, info, debug);
  if (TRACE_ENABLED(trace, kv, empty)) TRACE_INFO("enabled");
}

}  // namespace hygiene
