// Tests the memory of the registry, and spans on many threads and in forked children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/resident_memory.h"
#include "tests/support/sanitizers.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/registry_test_support.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace registry_test { namespace {

using tracing::internal::RecordLayer;
using tracing::internal::RecordStore;
using tracing::internal::Region;

// The memory by which the process may grow; sanitizers use some themselves.
#if TESTLOG_TSAN || TESTLOG_ASAN
constexpr std::size_t kSlackKib = 65536;
#else
constexpr std::size_t kSlackKib = 1024;
#endif

TEST(Registry, MemoryOfClosedSpansIsReused) {
  with_default(RegistryBuilder().build(), [] {
    auto const some = [](int count) {
      for (int i = 0; i < count; ++i) {
        TRACE_SPAN(info, "a", i);
        auto const b = TRACE_MAKE_SPAN(info, "b", tracing::kv("text", "some text that is copied"));
      }
    };
    some(1000);
    std::size_t const before = tracing_test::resident_kib();
    some(500000);
    EXPECT_LT(tracing_test::resident_kib(), before + kSlackKib);
  });
}

TEST(Registry, SlotsReturnFromTheClosingToTheOpeningThread) {
  auto const registry = RegistryBuilder().build();
  std::size_t before = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<tracing::Span> spans;
    with_default(registry, [&] {
      for (int i = 0; i < 2000; ++i) spans.push_back(TRACE_MAKE_SPAN(info, "a", i));
    });
    std::thread([&spans] { spans.clear(); }).join();
    if (round == 5) before = tracing_test::resident_kib();
  }
  EXPECT_LT(tracing_test::resident_kib(), before + kSlackKib);
  EXPECT_FALSE(registry->has_open_spans());
}

TEST(Registry, MemoryOfEndedThreadsIsReused) {
  auto const registry = RegistryBuilder().build();
  constexpr int kAtOnce = 4;
  auto const some = [&](int count) {
    for (int i = 0; i < count; ++i) {
      std::barrier all(kAtOnce);
      std::vector<std::thread> threads;
      for (int j = 0; j < kAtOnce; ++j) {
        threads.emplace_back([&] {
          with_default(registry, [&all] {
            TRACE_SPAN(info, "a");
            all.arrive_and_wait();
          });
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  };
  some(100);
  std::size_t const before = tracing_test::resident_kib();
  some(1000);
  EXPECT_LT(tracing_test::resident_kib(), before + kSlackKib);
}

TEST(Registry, ThreadLocalDestructorsMayEmit) {
  std::atomic<int> created{0};
  struct Counting final : tracing::Layer {
    explicit Counting(std::atomic<int>& n) : count(n) {}
    void on_new_span(SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override { ++count; }
    std::atomic<int>& count;
  };
  static std::shared_ptr<Registry> registry;
  registry = RegistryBuilder().with(std::make_unique<Counting>(created)).build();
  struct AtExit {
    ~AtExit() {
      with_default(registry, [] { TRACE_SPAN(info, "late"); });
    }
  };
  std::thread([] {
    static thread_local AtExit at_exit;
    (void)&at_exit;
    with_default(registry, [] { TRACE_SPAN(info, "early"); });
  }).join();
  EXPECT_EQ(created, 2);
  registry.reset();
}

TEST(Registry, ClosesTheScopesOfAThreadThatEndsWithoutDestructors) {
  std::vector<std::string> lines;
  bool destroyed = false;
  auto registry = RegistryBuilder().with(std::make_unique<Journal>(lines, &destroyed)).build();
  auto const held = with_default(registry, [] { return TRACE_MAKE_SPAN(info, "held"); });
  std::thread([&] {
    SpanRef const span = registry->span(held.id());
    registry->open_scope(span.metadata(), 1, nullptr);
    registry->enter(held.id(), {});
    registry->open_scope(span.metadata(), 1, nullptr);
  }).join();
  EXPECT_EQ(lines, (std::vector<std::string>{"new held", "new held", "enter held", "enter held", "new held/held",
                                             "enter held/held", "exit held/held", "close held/held", "exit held",
                                             "exit held", "close held"}));
  EXPECT_TRUE(registry->span(held.id()));
}

TEST(Registry, ManyThreadsShareASpanAndRecordToIt) {
  struct Reading final : tracing::Layer {
    void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
      SpanRef const span = context.event_span(event);
      auto const lock = span.lock();
      std::size_t size = 0;
      span.values().for_each_group(span.metadata(), [&](tracing::FieldValues const& values) { size += values.size(); });
      tracing::CachedText* const text = span.cached_text(this);
      if (text != nullptr && text->changes != span.values().changes()) {
        text->text.clear();
        text->text.append("text");
        text->changes = span.values().changes();
      }
      total += size;
    }
    std::atomic<std::size_t> total{0};
  };
  auto const registry = RegistryBuilder().with(std::make_unique<Reading>()).build();
  with_default(registry, [&] {
    auto const span = TRACE_MAKE_SPAN(info, "shared", tracing::kv("text", tracing::empty));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        with_default(registry, [&] {
          auto const scope = span.enter();
          for (int i = 0; i < 300; ++i) {
            TRACE_SPAN(info, "own", i);
            TRACE_INFO("event", tracing::parent(span));
            if (i % 10 == 0)
              span.record(tracing::kv("text", t % 2 == 0 ? "short" : "a text that is somewhat longer than the other"));
          }
        });
      });
    }
    for (auto& thread : threads) thread.join();
  });
  EXPECT_FALSE(registry->has_open_spans());
}

// Takes the locks of the dispatcher, of registries that have no owner, of a recording and of spans.
void use_every_lock(std::shared_ptr<Registry> const& registry, std::shared_ptr<Registry> const& recording) {
  with_default(RegistryBuilder().build(), [] { TRACE_SPAN(info, "short-lived"); });
  with_default(recording, [] { TRACE_SPAN(info, "recorded"); });
  with_default(registry, [] {
    TRACE_SPAN(info, "busy");
    auto const handle = TRACE_MAKE_SPAN(info, "handle", tracing::kv("late", tracing::empty));
    handle.record(tracing::kv("late", 1));
  });
}

int spans_of_other_threads(Registry const& registry) {
  int count = 0;
  registry.visit_all_tracks(
      [](void* others, tracing::Track const&, std::int64_t os_thread, SpanRef) {
        if (os_thread != getpid()) ++*static_cast<int*>(others);
      },
      &count);
  return count;
}

TEST(Registry, AForkedChildFindsEveryLockFreeWhileOtherThreadsWork) {
#if TESTLOG_TSAN || TESTLOG_ASAN
  GTEST_SKIP() << "a forked child may find the allocator of the sanitizer locked for good";
#endif
  auto const registry = RegistryBuilder().build();
  auto const recording =
      RegistryBuilder()
          .with(std::make_unique<RecordLayer>(std::make_shared<RecordStore>(Region::make_anonymous(Region::kMinBytes))))
          .build();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) use_every_lock(registry, recording);
    });
  }
  for (int i = 0; i < 20; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(10);
      for (int n = 0; n < 50; ++n) use_every_lock(registry, recording);
      _exit(spans_of_other_threads(*registry));
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "in fork " << i;
    if (status != 0) break;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

}}  // namespace registry_test
