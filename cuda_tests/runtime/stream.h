// Stream is the server's data about a stream. Handle is memory allocated on a stream.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "cuda_tests/runtime/kernel.h"
#include "cuda_tests/runtime/memory_manager.h"
#include "cuda_tests/runtime/storage.h"
#include "tracing_core/cuda/driver.h"

namespace cuda_tests {

/// Device memory, shared by the copies of the handle. Allocated on one stream, usable on all.
struct Handle {
  SliceHandle slice;  ///< null if the handle has zero bytes
  std::size_t bytes = 0;
  StreamId stream;

  CUdeviceptr address() const noexcept { return slice == nullptr ? 0 : slice->address; }
};
TRACE_FIELDS(Handle, bytes, stream)

/// Host memory for a copy to or from the device.
struct PinnedBuffer {
  StorageId id = 0;
  std::byte* data = nullptr;
  std::size_t capacity = 0;
};

/// A stream of the driver with its memory. Thread-compatible.
class Stream {
 public:
  /// Throws Error.
  Stream(tracing::cuda::Driver& driver, GpuStorage& gpu, PinnedStorage& pinned, StreamId id);
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;
  ~Stream();

  StreamId id() const noexcept { return id_; }
  CUstream get() const noexcept { return stream_; }
  CUevent event() const noexcept { return event_; }
  MemoryManager& memory() noexcept { return memory_; }

  /// Returns an idle buffer or a new buffer. If many are in flight, first queries the stream. Throws Error.
  PinnedBuffer take_pinned(std::size_t bytes);
  /// Takes a buffer back. It is idle again when the present work of the stream has completed.
  void give_back(PinnedBuffer buffer) { in_flight_.push_back(buffer); }
  /// Waits for the stream. Throws Error.
  void synchronize();

 private:
  bool take_idle(std::size_t bytes, PinnedBuffer& buffer);
  void recycle();  // called when the stream has no pending work

  tracing::cuda::Driver& driver_;
  PinnedStorage& pinned_;
  StreamId id_;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;  // lets other streams wait for this stream
  MemoryManager memory_;
  std::vector<PinnedBuffer> idle_;
  std::vector<PinnedBuffer> in_flight_;
};

/// The streams of a device.
using StreamMap = std::map<StreamId, std::unique_ptr<Stream>>;

}  // namespace cuda_tests
