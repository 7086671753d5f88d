#define TRACE_TARGET "cuda_tests::compute::stream"
#include "cuda_tests/runtime/stream.h"

#include <algorithm>
#include <bit>

#include "cuda_tests/runtime/error.h"

namespace cuda_tests {
namespace {

// The driver is queried only if at least this many buffers are in flight, so not for each buffer.
constexpr std::size_t kMaxUnqueried = 8;

}  // namespace

Stream::Stream(tracing::cuda::Driver& driver, GpuStorage& gpu, PinnedStorage& pinned, StreamId id)
    : driver_(driver), pinned_(pinned), id_(id), memory_(gpu) {
  check(driver.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cannot create a stream");
  CUresult const result = driver.event_create(&event_, CU_EVENT_DISABLE_TIMING);
  if (result != CUDA_SUCCESS) driver.stream_destroy(stream_);
  check(result, "cannot create an event");
}

Stream::~Stream() {
  driver_.stream_synchronize(stream_);
  driver_.event_destroy(event_);
  driver_.stream_destroy(stream_);
}

PinnedBuffer Stream::take_pinned(std::size_t bytes) {
  PinnedBuffer buffer;
  if (take_idle(bytes, buffer)) return buffer;
  if (in_flight_.size() >= kMaxUnqueried) {
    CUresult const result = driver_.stream_query(stream_);
    if (result != CUDA_ERROR_NOT_READY) check(result, "cannot query a stream");
    if (result == CUDA_SUCCESS) recycle();
    if (take_idle(bytes, buffer)) return buffer;
  }
  buffer.capacity = std::bit_ceil(std::max<std::size_t>(bytes, 256));
  buffer.data = static_cast<std::byte*>(pinned_.alloc(buffer.capacity, buffer.id));
  return buffer;
}

void Stream::synchronize() {
  check(driver_.stream_synchronize(stream_), "waiting for a stream failed");
  recycle();
}

bool Stream::take_idle(std::size_t bytes, PinnedBuffer& buffer) {
  auto const found = std::ranges::find_if(idle_, [&](PinnedBuffer const& idle) { return idle.capacity >= bytes; });
  if (found == idle_.end()) return false;
  buffer = *found;
  idle_.erase(found);
  return true;
}

void Stream::recycle() {
  idle_.insert(idle_.end(), in_flight_.begin(), in_flight_.end());
  in_flight_.clear();
}

}  // namespace cuda_tests
