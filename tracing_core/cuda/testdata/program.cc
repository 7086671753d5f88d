// Starts on machines without a driver, because it does not link one.
#include <cstdio>

#include "tracing_core/cuda/driver_library.h"

int main() {
  auto const driver = tracing::cuda::load_driver("libcuda.so.of_no_machine");
  std::puts(driver.explanation.c_str());
  return driver ? 1 : 0;
}
