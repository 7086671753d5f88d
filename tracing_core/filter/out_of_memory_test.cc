// Tests what is dropped when an allocation fails while a record is emitted. This file replaces the program's operator
// new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/filter_test_support.h"
#include "tracing_core/model/value.h"
#include "tracing_core/tracing.h"

namespace {

constinit thread_local bool no_memory = false;

// Makes allocations of this thread fail while it exists.
struct OutOfMemory {
  OutOfMemory() { no_memory = true; }
  OutOfMemory(OutOfMemory const&) = delete;
  OutOfMemory& operator=(OutOfMemory const&) = delete;
  ~OutOfMemory() { no_memory = false; }
};

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = no_memory ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return no_memory ? nullptr : std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tracing { namespace {

class EventCounter final : public Layer {
 public:
  explicit EventCounter(int& count) : count_(count) {}
  void on_event(Event const&, Context const&) noexcept override { ++count_; }

 private:
  int& count_;
};

bool is_registered(std::string_view target) {
  std::pair<std::string_view, bool> search(target, false);
  visit_callsites(
      [](void* context, Metadata const& metadata) {
        auto& [wanted, found] = *static_cast<std::pair<std::string_view, bool>*>(context);
        found = found || metadata.target() == wanted;
      },
      &search);
  return search.second;
}

TEST(OutOfMemory, ACallsiteIsRegisteredLater) {
  int count = 0;
  with_default(RegistryBuilder().with(std::make_unique<EventCounter>(count)).build(), [&count] {
    TRACE_INFO("the thread is known");
    auto const emit = [] { TRACE_INFO("first", target("out_of_memory")); };
    for (int i = 0; i < 2; ++i) {
      OutOfMemory const now;
      emit();
    }
    EXPECT_FALSE(is_registered("out_of_memory"));
    EXPECT_EQ(count, 3);
    emit();
    EXPECT_TRUE(is_registered("out_of_memory"));
    EXPECT_EQ(count, 4);
  });
}

// The spans are entered on a new thread, to which the filter is new.
TEST(OutOfMemory, LevelsOfEnteredSpansAreDropped) {
  EnvFilter filter = EnvFilter::parse_lossy("[outer]=debug,[inner]=trace");
  auto const debug = event_site("x", Level::debug), trace = event_site("x", Level::trace);
  FilteredSpan const outer(filter, span_site("x", "outer")), inner(filter, span_site("x", "inner"));
  auto const enter_without_memory = [](FilteredSpan const& span) {
    OutOfMemory const now;
    span.enter();
  };
  auto const expect = [&](bool debug_passes, bool trace_passes) {
    EXPECT_EQ(filter.enabled(debug.metadata()), debug_passes);
    EXPECT_EQ(filter.enabled(trace.metadata()), trace_passes);
  };
  std::thread([&] {
    enter_without_memory(outer);
    expect(false, false);
    inner.enter();
    expect(true, true);
    inner.exit();
    expect(false, false);
    outer.exit();

    outer.enter();
    enter_without_memory(inner);
    expect(true, false);
    inner.enter();  // also dropped, so that levels are popped in order
    expect(true, false);
    inner.exit();
    inner.exit();
    expect(true, false);
    outer.exit();
    expect(false, false);
    inner.enter();
    expect(true, true);
    inner.exit();
    expect(false, false);
  }).join();
}

TEST(OutOfMemory, AnErrorCodeHasNoText) {
  std::error_code const code = std::make_error_code(std::errc::no_such_file_or_directory);
  InlineTextBuffer<256> text;
  {
    OutOfMemory const now;
    append_debug(text, Value::of_error(code));
  }
  EXPECT_EQ(text.view(), "unknown");
}

}}  // namespace tracing
