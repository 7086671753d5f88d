// Two tests that do not come to their end.
#include "worker.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace demo {
namespace {

TEST(Worker, TellsThatItsJobsAreDone) {
  Worker worker(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // something else to do
  worker.wait();
}

TEST(Worker, GetsItsMemory) {
  for (std::size_t elements = 1 << 20; elements <= std::size_t{1} << 32; elements *= 16) reserve(elements);
}

}  // namespace
}  // namespace demo
