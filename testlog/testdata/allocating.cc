// A program whose allocation functions have statements, from its first instruction to its last: `allocating` runs
// tests, `allocating init` is a program without tests.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "testlog/records.h"
#include "testlog/testlog.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
  TRACE_SPAN(trace, "malloc", size);
  TRACE_TRACE("allocates");
  return __libc_malloc(size);
}
void free(void* memory) {
  TRACE_TRACE("free", tracing::kv("address", memory));
  __libc_free(memory);
}
}

void* operator new(std::size_t size) {
  TRACE_SPAN(trace, "operator new", size);
  TRACE_ERROR("text of {} bytes", size, tracing::kv("kind", "new"));
  if (void* const made = __libc_malloc(size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  auto const span = TRACE_MAKE_SPAN(trace, "nothrow", size);
  auto const entered = span.enter();
  TRACE_TRACE("allocates");
  return __libc_malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  TRACE_TRACE("aligned", size);
  auto const unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
void operator delete(void* memory) noexcept {
  TRACE_WARN("operator delete");
  __libc_free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }

namespace {

struct alignas(256) Aligned {
  char bytes[256] = {};
};

void work() {
  TRACE_SPAN(info, "work");
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back(std::string(static_cast<std::size_t>(i) * 10, 'x'));
  delete new (std::nothrow) int;
  delete new Aligned;
  free(malloc(100));
  TRACE_INFO("{}", texts.back());
  std::thread([] {
    std::string const text(1000, 'y');
    TRACE_INFO("in a thread", text);
  }).join();
}

TEST(Allocating, OfTests) {
  work();
  char const* const capture = std::getenv("TRACE_CAPTURE");
  if (capture == nullptr || std::string_view(capture) != "off") {
    EXPECT_NE(testlog::records().size(), 0u);
  }
}
TEST_LOG(Allocating, OfTestsWithSettings, .default_filter = "trace") { work(); }
TEST_LOG(Allocating, WithAnotherRegistry) {
  auto const registry = tracing::RegistryBuilder().with(tracing::print_layer()).build();
  tracing::with_default(registry, work);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "init") {
    auto const guard = tracing::init_from_env({.filter = "trace"});
    work();
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
