// The tests that health_test.cc runs as a program of their own. They call what they take for the runtime API: the driver is
// loaded by somebody else.
#include <dlfcn.h>
#include <testlog/testlog.h>

#include "tracing_core/tracing.h"

namespace {

void* driver() {
  static void* const library = dlopen(BROKEN_DRIVER, RTLD_NOW);
  return library;
}

void launch(char const* kernel) {
  TRACE_SPAN(trace, "launch", tracing::kv("kernel.name", tracing::display(kernel)));
  TRACE_DEBUG("launched");
}

TEST_LOG(Device, IsNotLoadedYet) {}
TEST_LOG(Device, IsWell) {
  ASSERT_NE(driver(), nullptr) << dlerror();
  launch("fine");
}
TEST_LOG(Device, IsLeftCapturing) {
  reinterpret_cast<void (*)()>(dlsym(driver(), "begin_capture"))();
}
TEST_LOG(Device, IsWellAgain) { reinterpret_cast<void (*)()>(dlsym(driver(), "end_capture"))(); }
TEST_LOG(Device, IsBroken) {
  TRACE_SPAN(info, "step", tracing::kv("number", 3));
  launch("first");
  launch("second");
  reinterpret_cast<void (*)()>(dlsym(driver(), "break_device"))();
}
TEST_LOG(Device, FailsAfterwards) { FAIL() << "the device does not answer"; }
TEST_LOG(Device, IsNotUsedAfterwards) {}

TEST_LOG(Context, IsDestroyed) { reinterpret_cast<void (*)()>(dlsym(driver(), "destroy_current"))(); }

}  // namespace
