// A program without tests that calls init_from_env(): `init_scenarios SCENARIO`.
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/setup.h>
#include <tracing_core/tracing.h>

namespace library {

void copy(int bytes) { TRACE_PERF("copy", bytes); }

void work() {
  TRACE_SPAN(info, "request", tracing::kv("id", 7), tracing::kv("password", "secret"));
  TRACE_DEBUG("preparing");
  copy(64);
  TRACE_INFO("done");
}

}  // namespace library

int main(int argc, char** argv) {
  std::string_view const scenario = argc > 1 ? argv[1] : "";
  if (scenario == "has a subscriber") tracing::set_global_default(tracing::RegistryBuilder().build());
  tracing::EnvOptions defaults;
  if (scenario == "defaults") {
    defaults = {.filter = "library=debug", .format = tracing::FormatKind::compact, .time = tracing::TimeStyle::none};
  }
  if (scenario == "wrong default") defaults.filter = "info,library=debgu";
  auto const guard = tracing::init_from_env(defaults);
  library::work();
  if (scenario == "has a worker") {
    std::thread([] {
      tracing::set_thread_name("worker");
      library::work();
    }).join();
  }
  if (scenario == "exit") std::exit(0);
  if (scenario == "forks" && fork() == 0) return 0;
}
