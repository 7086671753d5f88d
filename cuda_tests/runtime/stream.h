// Declares Stream, what the server keeps for a stream of its clients, and Handle, memory on it.
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

/// Memory of the device. Copies share it; it is free again when the last is gone. Made on one stream, usable on all.
struct Handle {
  SliceHandle slice;  ///< null where it has no bytes
  std::size_t bytes = 0;
  StreamId stream;

  CUdeviceptr address() const noexcept { return slice == nullptr ? 0 : slice->address; }
};

/// Memory of the host, on its way to the device or from it.
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

  /// A buffer that nobody uses, or a new one. Where many are on their way, asks first whether they have arrived. Throws Error.
  PinnedBuffer take_pinned(std::size_t bytes);
  /// It may be taken again once the stream has done what was asked of it so far.
  void give_back(PinnedBuffer buffer) { in_flight_.push_back(buffer); }
  /// Waits until the stream has done all. Throws Error.
  void synchronize();

 private:
  bool take_idle(std::size_t bytes, PinnedBuffer& buffer);
  void recycle();  // once the stream has done all

  tracing::cuda::Driver& driver_;
  PinnedStorage& pinned_;
  StreamId id_;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;  // for others that wait for this one
  MemoryManager memory_;
  std::vector<PinnedBuffer> idle_;
  std::vector<PinnedBuffer> in_flight_;
};

/// The streams of a device, whose memory they share.
using StreamMap = std::map<StreamId, std::unique_ptr<Stream>>;

}  // namespace cuda_tests
