#include "tracing_core/format/style.h"

#include <unistd.h>

#include <cstdlib>

namespace tracing::inline v1 {

bool decide_color(ColorChoice choice, int descriptor) noexcept {
  return decide_color(choice, {std::getenv("NO_COLOR"), std::getenv("CLICOLOR_FORCE"), isatty(descriptor) == 1});
}

}  // namespace tracing::inline v1
