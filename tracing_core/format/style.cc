#include "tracing_core/format/style.h"

#include <unistd.h>

#include <cstdlib>

namespace tracing { inline namespace v1 {

bool decide_color(ColorChoice choice, int descriptor) noexcept {
  return decide_color(choice, {secure_getenv("NO_COLOR"), secure_getenv("CLICOLOR_FORCE"), isatty(descriptor) == 1});
}

}}  // namespace tracing::v1
