// Writers choose sinks for lines: by level, by a predicate, or several at once.
#include <cstdio>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace {

tracing::WriterPtr print_with_prefix(char const* prefix) {
  return tracing::to_sink(tracing::make_sink([prefix](tracing::Level, std::string_view line) {
    std::printf("%s | %.*s", prefix, static_cast<int>(line.size()), line.data());
  }));
}

}  // namespace

namespace audit {
void login(int user) { TRACE_INFO("login", user); }
}  // namespace audit

int main() {
  auto warnings = tracing::with_max_level(print_with_prefix("errors"), tracing::Level::warn);
  auto others = print_with_prefix("rest  ");
  auto audited = tracing::with_filter(print_with_prefix("audit "),
                                      [](tracing::Metadata const& m) { return m.target() == "audit"; });
  auto writer = tracing::tee(tracing::or_else(std::move(warnings), std::move(others)), std::move(audited));
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = std::move(writer)}))
          .build());

  TRACE_ERROR("to errors");
  TRACE_INFO("to the rest");
  audit::login(7);
}
