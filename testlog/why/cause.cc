#include "testlog/why/cause.h"

namespace testlog::why {

std::string_view name(CauseKind kind) noexcept {
  constexpr std::string_view kNames[] = {"order",   "exception", "value", "thread",   "occurs",
                                         "missing", "count",     "open",  "duration", "late"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace testlog::why
