// What a program logs with spdlog, in the spans of the code around it; and the spans in a pattern of its own.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include <tracing_core/bridge/span_path_flag.h>
#include <tracing_core/bridge/spdlog.h>
#include <tracing_core/tracing.h>

#include "collect.h"

namespace {

template <class F>
void collect(F run) {
  tracing::with_default(tracing::RegistryBuilder()
                            .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = examples::standard_output()}))
                            .build(),
                        [&] {
                          run();
                          std::fflush(stdout);
                        });
}

// Knows nothing of tracing.
void fetch(int page) {
  spdlog::debug("page {} is not in the cache", page);
  spdlog::warn("page {} took long", page);
  if (auto const logger = spdlog::get("net")) logger->info("retried");
}

void serve() {
  TRACE_SPAN(info, "request", tracing::kv("id", 7));
  fetch(3);
}

}  // namespace

int main() {
  auto const net = spdlog::stdout_logger_mt("net");
  spdlog::set_pattern("%l: %v");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // both write to it

  std::puts("as ever");
  serve();

  std::puts("\nas events; spdlog's own sinks print no more than before");
  collect([] {
    tracing::bridge::install_spdlog();
    serve();
    tracing::bridge::uninstall_spdlog();
  });

  std::puts("\nas events alone");
  collect([] {
    tracing::bridge::install_spdlog({.mute_console = true});
    serve();
    tracing::bridge::uninstall_spdlog();
  });

  std::puts("\nthe spans in a pattern of spdlog's");
  collect([] {
    spdlog::set_formatter(tracing::bridge::span_path_formatter("%l %*: %v"));
    serve();
  });
}
