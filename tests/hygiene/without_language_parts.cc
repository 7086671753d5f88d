// Compiled three times: with -fno-exceptions, with -fno-rtti, and with both. HYGIENE_FUNCTION is the name of the
// function.
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tracing_core/tracing.h"

#include "tests/hygiene/hygiene.h"

namespace hygiene {
namespace {

struct Point {
  int x;
  int y;
};
TRACE_FIELDS(Point, x, y)

class Failure : public std::exception {
 public:
  char const* what() const noexcept override { return "it failed"; }
};

}  // namespace

void HYGIENE_FUNCTION(int n) {
  TRACE_FN(info, n);
  TRACE_SPAN(debug, "scope", tracing::kv("point", Point{n, 2}));
  Failure const failure;
  std::vector<std::string> const words{"a", "b"};
  TRACE_INFO("{} {n}", words, n, failure, tracing::kv("code", std::make_error_code(std::errc::timed_out)));
  auto const handle = TRACE_MAKE_SPAN(info, "handle", tracing::kv("status", tracing::empty));
  handle.in_scope([] { TRACE_INFO("inside"); });
  handle.record(tracing::kv("status", std::make_unique<int>(1) != nullptr));
}

}  // namespace hygiene
