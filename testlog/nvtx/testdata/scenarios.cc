// Tests of a library with NVTX ranges, which is part of the program (or a shared library), or is opened.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tracing_core/tracing.h>

#include <cstdlib>

extern "C" void use_ranges(void (*in_range)());

namespace {

void in_range() { TRACE_INFO("in the range"); }

TEST(Library, HasRanges) {
  TRACE_SPAN(info, "request", tracing::kv("id", 7));
  use_ranges(in_range);
}

TEST(Library, HasRangesAfterItIsOpened) {
  void* const library = dlopen(std::getenv("OPENED_LIBRARY"), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  TRACE_SPAN(info, "request", tracing::kv("id", 7));
  reinterpret_cast<decltype(&use_ranges)>(dlsym(library, "use_ranges"))(in_range);
}

}  // namespace
