// Spdlog messages in the spans of the code around them, and the spans in a spdlog pattern.
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
  tracing::with_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = examples::standard_output()}))
          .build(),
      [&] {
        run();
        std::fflush(stdout);
      });
}

// Code without spans.
void fetch(int page) {
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
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // to keep the order with lines of tracing

  std::puts("spdlog alone");
  serve();

  std::puts("\nas events");
  collect([] {
    tracing::bridge::attach_all();
    serve();
    tracing::bridge::detach_all();
  });

  std::puts("\nas events, and on the console");
  collect([] {
    tracing::bridge::attach_all(tracing::bridge::Console::keep);
    serve();
    tracing::bridge::detach_all();
  });

  std::puts("\nthe spans in a spdlog pattern");
  collect([] {
    spdlog::set_formatter(tracing::bridge::span_path_formatter("%l %*: %v"));
    serve();
  });
}
