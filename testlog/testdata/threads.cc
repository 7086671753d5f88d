// Threads that record at once, in a span that they share; checked by helgrind and DRD.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "testlog/testlog.h"
#include "tracing_core/tracing.h"

TEST(Threads, RecordAtOnce) {
  auto const span = TRACE_MAKE_SPAN(info, "shared", tracing::kv("number", 1));
  std::vector<std::thread> all;
  for (int thread = 0; thread < 4; ++thread) {
    all.emplace_back([&span, thread] {
      span.in_scope([thread] {
        for (int i = 0; i < 50; ++i) {
          TRACE_SPAN(info, "work", thread, i);
          TRACE_INFO("step {}", i, tracing::kv("text", "some text"));
        }
      });
    });
  }
  for (std::thread& thread : all) thread.join();
}
