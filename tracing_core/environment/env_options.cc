#include "tracing_core/environment/env_options.h"

namespace tracing { inline namespace v1 { namespace environment {

std::shared_ptr<Timer const> timer_of(TimeStyle style) {
  switch (style) {
    case TimeStyle::utc: return utc_timer();
    case TimeStyle::local: return local_timer();
    case TimeStyle::uptime: return uptime_timer(Instant::now());
    case TimeStyle::none: break;
  }
  return nullptr;
}

bool use_color(EnvOptions const& options, bool is_terminal, ColorChoice fallback) {
  // The fallback answers in place of the terminal.
  bool const otherwise = decide_color(fallback, {.is_terminal = is_terminal});
  return decide_color(options.color, {.no_color = options.no_color ? "1" : nullptr,
                                      .clicolor_force = options.force_color ? "1" : nullptr,
                                      .is_terminal = otherwise});
}

}}}  // namespace tracing::v1::environment
