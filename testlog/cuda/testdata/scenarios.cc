// The tests that device_check_test.cc runs as a separate program. They use a driver that tracing::cuda has not opened,
// as code that calls the runtime API does.
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
TEST_LOG(Device, Works) {
  ASSERT_NE(driver(), nullptr) << dlerror();
  launch("fine");
}
TEST_LOG(Device, IsLeftCapturing) { reinterpret_cast<void (*)()>(dlsym(driver(), "begin_capture"))(); }
TEST_LOG(Device, WorksAgain) { reinterpret_cast<void (*)()>(dlsym(driver(), "end_capture"))(); }
TEST_LOG(Device, IsBroken) {
  TRACE_SPAN(info, "step", tracing::kv("number", 3));
  launch("first");
  launch("second");
  reinterpret_cast<void (*)()>(dlsym(driver(), "break_device"))();
}
TEST_LOG(Device, FailsAfterwards) { FAIL() << "the device does not answer"; }
TEST_LOG(Device, IsUnusedAfterwards) {}

TEST_LOG(Context, IsDestroyed) { reinterpret_cast<void (*)()>(dlsym(driver(), "destroy_current"))(); }

}  // namespace
