// Two tests that do not reach their end.
#include "worker.h"

#include <chrono>
#include <thread>

#include <testlog/testlog.h>

namespace demo { namespace {

TEST_LOG(Worker, TellsThatItsJobsAreDone) {
  Worker worker(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the test is busy in the meantime
  worker.wait();
}

TEST_LOG(Worker, GetsItsMemory) {
  for (std::size_t elements = 1 << 20; elements <= std::size_t{1} << 32; elements *= 16) reserve(elements);
}

}}  // namespace demo
