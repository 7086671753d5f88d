// Command implements the operations of the server on one stream.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cuda_tests/runtime/stream.h"

namespace cuda_tests {

/// The number of elements along each axis of a tensor.
using Shape = std::vector<std::size_t>;

/// Created for each request of a client.
class Command {
 public:
  /// `all`: the streams of the device, including `stream`.
  Command(tracing::cuda::Driver& driver, Stream& stream, StreamMap const& all)
      : driver_(driver), stream_(stream), all_(all) {}

  /// Returns uninitialised memory. If the device has no memory left, frees the unused memory of all streams and tries
  /// again. Throws Error.
  SliceHandle reserve(std::size_t size);
  /// Returns a handle with memory.
  Handle empty(std::size_t size);
  /// Attaches reserved memory to the handle.
  void bind(Handle& handle, SliceHandle reserved);

  /// Returns host memory for a copy from the device.
  PinnedBuffer reserve_cpu(std::size_t size, bool marked_pinned, std::optional<StreamId> origin);
  PinnedBuffer reserve_pinned(std::size_t size, std::optional<StreamId> origin);

  void write_to_gpu(Handle const& handle, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size);
  /// Copies memory to the host. Waits for the stream.
  std::vector<std::byte> write_to_cpu(Handle const& handle, Shape const& shape, std::size_t elem_size);

  /// Copies memory on the device.
  void copy(Handle const& to, Handle const& from);

  /// Makes later work on this stream wait for the present work of `other`.
  void wait_for(Stream& other);
  /// Makes later work on this stream wait for the event.
  void wait_for(CUevent event);
  /// Records the event of this stream after its present work, and returns it. Valid until the stream records it again.
  CUevent record();

 private:
  void reclaim();

  tracing::cuda::Driver& driver_;
  Stream& stream_;
  StreamMap const& all_;
};

}  // namespace cuda_tests
