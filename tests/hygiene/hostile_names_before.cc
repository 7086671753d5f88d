// The standard library and fmt come first, as they are not protected from macros.
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
#error "a tracing header changed a macro of the user"
#endif

namespace hygiene {

struct Pair {
  int first;
  int second;
};
TRACE_FIELDS(Pair, first, second)
enum class Mode { None_, Some };
TRACE_ENUM(Mode, None_, Some)

void hostile_names_before(int number) {
#include "tests/hygiene/every_statement.inc"
  Pair const pair{number, debug};
  TRACE_VALUES(info, pair, tracing::kv("mode", Mode::Some));
}

}  // namespace hygiene
