// A recording of two threads. A layer writes it; read_recording.py or `testlog show` reads it.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/record/record.h>
#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace shop {

void serve(int id, tracing::Span const& request) {
  tracing::set_thread_name("worker");
  request.in_scope([&] {
    TRACE_SPAN(debug, "query", id, tracing::kv("table", "orders"));
    examples::work_for(2ms);
    TRACE_WARN("{} rows, {:.1f} ms each", 3, 0.5, tracing::kv("cached", false));
  });
  request.record(tracing::kv("status", 200));
}

}  // namespace shop

int main(int argc, char** argv) {
  std::string const path = argc > 1 ? argv[1] : "run.rec";
  std::remove(path.c_str());
  (void)examples::is_time_simulated;
  auto [layer, error] = tracing::record_layer({.path = path, .limit_bytes = 1 << 20});
  if (error) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.message().c_str());
    return 1;
  }
  tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
  tracing::set_thread_name("main");
  {
    TRACE_SPAN(info, "serve", tracing::kv("port", 8080));
    examples::work_for(1ms);
    TRACE_INFO("ready");
    auto request =
        TRACE_MAKE_SPAN(info, "request", tracing::kv("path", "/orders"), tracing::kv("status", tracing::empty));
    std::thread(shop::serve, 7, std::cref(request)).join();
    examples::work_for(1ms);
    TRACE_VALUES(trace, tracing::kv("load", 0.25), tracing::kv("note", "two\nlines"));
  }
  TRACE_ERROR("out of paper", tracing::parent(nullptr));
}
