// Output of user-defined types: TRACE_FIELDS for classes, TRACE_ENUM for enumerations, fmt or operator<< for the rest.
#include <ostream>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace gpu {

struct CubeDim {
  unsigned x = 16, y = 16, z = 1;
};
TRACE_FIELDS(CubeDim, x, y, z)

enum class Mode { checked, unchecked };
TRACE_ENUM(Mode, checked, unchecked)

struct Launch {
  CubeDim block;
  Mode mode = Mode::checked;
};
TRACE_FIELDS(Launch, block, mode)

// A friend lists private members. A template is described inside the class, or with a separate `template` line.
template <class T>
class Buffer {
 public:
  explicit Buffer(T first) : first_(first) {}

 private:
  enum class State { empty, filled };
  friend TRACE_ENUM(State, empty, filled) friend TRACE_FIELDS(Buffer, first_, state_)

      T first_;
  State state_ = State::filled;
};

struct Celsius {
  double degrees;
  friend std::ostream& operator<<(std::ostream& os, Celsius c) { return os << c.degrees << " C"; }
};

void report() {
  CubeDim const block;
  TRACE_INFO("launching", block, tracing::kv("mode", Mode::unchecked));
  TRACE_INFO("the launch is {}", Launch{});
  TRACE_INFO("over several lines", tracing::kv("launch", tracing::pretty(Launch{})));
  TRACE_INFO("private members", tracing::kv("buffer", Buffer<Mode>(Mode::unchecked)));
  TRACE_INFO("by operator<<", tracing::kv("temperature", Celsius{41.5}));
  TRACE_INFO("an unknown enumerator is a number", tracing::kv("mode", static_cast<Mode>(7)));
}

}  // namespace gpu

int main() {
  auto const tracing_guard = examples::init();
  gpu::report();
}
