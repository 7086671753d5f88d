#include "tracing_core/dispatch/runtime_callsite.h"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tests/support/resident_memory.h"
#include "tests/support/sanitizers.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/emit/span.h"

namespace {

using tracing::CallsiteDescription;
using tracing::Kind;
using tracing::Level;
using tracing::RuntimeCallsite;
using tracing::Value;
using tracing_test::Recording;

TEST(RuntimeCallsite, CopiesItsDescription) {
  std::optional<RuntimeCallsite> callsite;
  {
    std::string const name = "name of some length, longer than the buffer inside a string";
    std::string const field = "field";
    callsite.emplace(CallsiteDescription{.kind = Kind::span,
                                         .name = name,
                                         .target = "target",
                                         .level = Level::warn,
                                         .fields = {field, "other field"},
                                         .file = "file.cc",
                                         .line = 7,
                                         .module_path = "module",
                                         .function = "function"});
  }
  tracing::Metadata const& metadata = callsite->metadata();
  EXPECT_TRUE(metadata.is_span());
  EXPECT_EQ(metadata.name(), "name of some length, longer than the buffer inside a string");
  EXPECT_EQ(metadata.target(), "target");
  EXPECT_EQ(metadata.level(), Level::warn);
  EXPECT_EQ(metadata.file(), "file.cc");
  EXPECT_EQ(metadata.line(), 7U);
  EXPECT_EQ(metadata.module_path(), "module");
  EXPECT_EQ(metadata.function(), "function");
  ASSERT_EQ(metadata.fields().size(), 2U);
  EXPECT_EQ(metadata.fields()[1], "other field");
  EXPECT_EQ(metadata.fields().index_of("field"), 0U);
}

TEST(RuntimeCallsite, StaysAfterItsLastCopyIfPermanent) {
  static tracing::Metadata const* permanent = nullptr;
  static bool is_found = false;
  Recording const recording;
  {
    RuntimeCallsite const callsite({.name = "permanent", .is_permanent = true});
    permanent = &callsite.metadata();
    EXPECT_NE(callsite.callsite().enabled(), 0u);
  }
  tracing::visit_callsites([](void*, tracing::Metadata const& metadata) { is_found |= &metadata == permanent; },
                           nullptr);
  EXPECT_TRUE(is_found);
  EXPECT_EQ(permanent->name(), "permanent");
}

TEST(RuntimeCallsite, NeedsNoDescription) {
  RuntimeCallsite const callsite({});
  EXPECT_TRUE(callsite.metadata().is_event());
  EXPECT_EQ(callsite.metadata().name(), "event");
  EXPECT_EQ(callsite.metadata().level(), Level::info);
  EXPECT_EQ(callsite.metadata().module_path().data(), nullptr);
  EXPECT_TRUE(callsite.metadata().file().empty());
}

TEST(RuntimeCallsite, DistinguishesLineZeroFromNoLine) {
  for (std::uint32_t const line : {0U, 1U}) {
    RuntimeCallsite const callsite({.line = line});
    EXPECT_EQ(callsite.metadata().line(), line);
    EXPECT_TRUE(knows_line(callsite.metadata()));
  }
  RuntimeCallsite const unknown({});
  EXPECT_EQ(unknown.metadata().line(), 0U);
  EXPECT_FALSE(knows_line(unknown.metadata()));
}

TEST(RuntimeCallsite, LeavesOutFieldsAfterTheMaximum) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("f" + std::to_string(i));
  RuntimeCallsite const callsite({.fields = {names.begin(), names.end()}});
  EXPECT_EQ(callsite.metadata().fields().size(), 250U);
  EXPECT_EQ(callsite.metadata().fields()[249], "f249");
  Recording const recording;
  std::vector<Value> const values(250, Value::of_bool(true));
  emit_event(callsite.callsite(), values.data());
  EXPECT_NE(recording->take_one().find(" f249=true"), std::string::npos);
}

TEST(RuntimeCallsite, EmitsToTheCurrentSubscriber) {
  RuntimeCallsite const callsite({.target = "lib", .level = Level::debug, .fields = {"message", "n"}});
  Value const values[] = {Value::of_text("text"), Value::of_i64(3)};
  emit_event(callsite.callsite(), values);
  Recording const recording;
  emit_event(callsite.callsite(), values);
  EXPECT_EQ(recording->take_one(), "event DEBUG lib message=\"text\" n=3");
  emit_event(callsite.callsite(), values, tracing::Parent::root());
  EXPECT_EQ(recording->take_one(), "event DEBUG lib root message=\"text\" n=3");
  Recording const others(tracing::LevelFilter::info);
  emit_event(callsite.callsite(), values);
  EXPECT_TRUE(others->take().empty());
}

int callsites_of(std::string_view target) {
  std::pair<std::string_view, int> count{target, 0};
  tracing::visit_callsites(
      [](void* context, tracing::Metadata const& metadata) {
        auto& [wanted, found] = *static_cast<std::pair<std::string_view, int>*>(context);
        if (metadata.target() == wanted) ++found;
      },
      &count);
  return count.second;
}

TEST(RuntimeCallsite, LivesAsLongAsItsLastHandle) {
  std::optional<RuntimeCallsite> first(CallsiteDescription{.target = "handles"});
  Recording const recording;
  emit_event(first->callsite(), nullptr);
  EXPECT_EQ(callsites_of("handles"), 1);
  std::optional<RuntimeCallsite> second = first;
  EXPECT_EQ(&second->callsite(), &first->callsite());
  first.reset();
  EXPECT_EQ(second->metadata().target(), "handles");
  RuntimeCallsite other({.target = "other"});
  other = *second;
  second.reset();
  EXPECT_EQ(callsites_of("handles"), 1);
  other = RuntimeCallsite({});
  EXPECT_EQ(callsites_of("handles"), 0);
}

TEST(RuntimeCallsite, IsKeptWhileItsMetadataIsRetained) {
  tracing::Metadata const* kept = nullptr;
  {
    RuntimeCallsite const callsite({.name = "kept", .target = "retained"});
    Recording const recording;
    emit_event(callsite.callsite(), nullptr);
    kept = &callsite.metadata();
    retain(*kept);
  }
  EXPECT_EQ(kept->name(), "kept");
  EXPECT_EQ(callsites_of("retained"), 1);
  release(*kept);
  EXPECT_EQ(callsites_of("retained"), 0);
}

TEST(RuntimeCallsite, LeavesTheOthersInTheList) {
  auto const make = [] {
    std::optional<RuntimeCallsite> callsite(CallsiteDescription{.target = "list"});
    callsite->callsite().enabled();
    return callsite;
  };
  Recording const recording;
  auto first = make(), second = make(), third = make(), fourth = make();
  second.reset();
  EXPECT_EQ(callsites_of("list"), 3);
  fourth.reset();
  EXPECT_EQ(callsites_of("list"), 2);
  second = make();
  first.reset();
  EXPECT_EQ(callsites_of("list"), 2);
  third.reset(), second.reset();
  EXPECT_EQ(callsites_of("list"), 0);
}

TEST(RuntimeCallsite, IsFreedInConstantTime) {
  Recording const recording;
  std::vector<std::optional<RuntimeCallsite>> callsites(100'000);
  for (auto& callsite : callsites) callsite.emplace(CallsiteDescription{.target = "many"}).callsite().enabled();
  EXPECT_EQ(callsites_of("many"), 100'000);
  std::clock_t const start = std::clock();            // processor time: a busy machine does not change it
  for (auto& callsite : callsites) callsite.reset();  // the last in the list comes first
  EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
  EXPECT_EQ(callsites_of("many"), 0);
}

TEST(RuntimeCallsite, MayBeCreatedAndFreedByManyThreads) {
  auto const registry = tracing::RegistryBuilder().build();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tracing::ScopedDefault const scope(registry);
      for (int i = 0; i < 500; ++i) {
        std::string const name = "thread " + std::to_string(t) + " name " + std::to_string(i);
        RuntimeCallsite const callsite({.kind = Kind::span, .name = name, .target = "threads"});
        tracing::Span const span = tracing::Span::make(callsite.callsite(), nullptr);
        RuntimeCallsite const copy = callsite;
        EXPECT_EQ(span.metadata()->name(), name);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(callsites_of("threads"), 0);
}

// The memory by which the process may grow; sanitizers use some themselves.
#if TESTLOG_TSAN || TESTLOG_ASAN
constexpr std::size_t kSlackKib = 262144;
constexpr int kNames = 100'000;
#else
constexpr std::size_t kSlackKib = 1024;
constexpr int kNames = 1'000'000;
#endif

TEST(RuntimeCallsite, MemoryOfUnusedNamesIsReused) {
  auto const registry = tracing::RegistryBuilder().build();
  tracing::ScopedDefault const scope(registry);
  auto const make = [](int i) {
    std::string const name = "a unique name, " + std::to_string(i);
    RuntimeCallsite const callsite({.kind = Kind::span, .name = name, .target = name, .fields = {"n", name}});
    Value const values[] = {Value::of_i64(i), Value::of_text(name)};
    tracing::Span const span = tracing::Span::make(callsite.callsite(), values);
    RuntimeCallsite const event({.name = name, .target = "names", .fields = {"message"}});
    emit_event(event.callsite(), values + 1);
  };
  for (int i = 0; i < kNames / 10; ++i) make(i);
  std::size_t const before = tracing_test::resident_kib();
  for (int i = 0; i < kNames; ++i) make(kNames + i);
  EXPECT_LT(tracing_test::resident_kib(), before + kSlackKib);
  EXPECT_EQ(callsites_of("names"), 0);
}

}  // namespace
