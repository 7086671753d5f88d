// Two threads race for a variable, close to each other, with records before and after. `race recorded` records them.
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record_layer.h"
#include "tracing_core/tracing.h"

namespace {

long shared_value = 0;

void work(int thread, std::atomic<int>& started) {
  started.fetch_add(1, std::memory_order_relaxed);
  while (started.load(std::memory_order_relaxed) < 2) {
  }
  for (int i = 0; i < 2000; ++i) {
    TRACE_SPAN(info, "step", i);
    TRACE_INFO("working", thread);
    if (i == 1000 + thread * 3) ++shared_value;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("recorded")) {
    using namespace tracing::internal;
    auto const store = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
    tracing::set_global_default(tracing::RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build());
  }
  std::atomic<int> started{0};
  std::thread a(work, 0, std::ref(started));
  std::thread b(work, 1, std::ref(started));
  a.join();
  b.join();
}
