// Two threads race for a variable, with records before and after: `race DISTANCE [FILE | memory]`. DISTANCE is how many
// steps of records each thread makes between the two accesses; with a second argument they are recorded.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace {

long shared_value = 0;
int distance = 0;
std::atomic<int> started{0};
std::atomic<int> accesses{0};  // relaxed, so they order nothing for ThreadSanitizer

void record(int steps) {
  for (int i = 0; i < steps; ++i) {
    TRACE_SPAN(info, "step", i);
    TRACE_INFO("working", i);
  }
}

void work(bool is_first) {
  started.fetch_add(1, std::memory_order_relaxed);
  while (started.load(std::memory_order_relaxed) < 2) {
  }
  record(1000);
  if (is_first) {
    ++shared_value;
    record(distance);
    accesses.store(1, std::memory_order_relaxed);
  } else {
    while (accesses.load(std::memory_order_relaxed) == 0) {
    }
    record(distance);
    ++shared_value;
  }
  record(1000);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tracing::internal;
  if (argc > 1) distance = std::atoi(argv[1]);
  if (argc > 2) {
    std::error_code error;
    constexpr std::size_t kLimit = 16 << 20;  // nothing is overwritten
    std::string const path = argv[2];
    auto region = path == "memory" ? Region::make_anonymous(kLimit)
                                   : Region::make_file(path, kLimit, error, Region::Existing::replace);
    if (region == nullptr) return 1;
    auto const store = std::make_shared<RecordStore>(std::move(region));
    tracing::set_global_default(tracing::RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build());
  }
  std::thread a(work, true);
  std::thread b(work, false);
  a.join();
  b.join();
}
