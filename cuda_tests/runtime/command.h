// Command: the operations of the server on one stream.
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

  /// Uninitialised memory. If the device has none left, frees the unused memory of all streams and tries again. Throws
  /// Error.
  SliceHandle reserve(std::size_t size);
  /// A handle with memory.
  Handle empty(std::size_t size);
  /// Attaches reserved memory to the handle.
  void bind(Handle& handle, SliceHandle reserved);

  /// Host memory for a copy from the device.
  PinnedBuffer reserve_cpu(std::size_t size, bool marked_pinned, std::optional<StreamId> origin);
  PinnedBuffer reserve_pinned(std::size_t size, std::optional<StreamId> origin);

  void write_to_gpu(Handle const& handle, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size);
  /// Waits for the stream.
  std::vector<std::byte> write_to_cpu(Handle const& handle, Shape const& shape, std::size_t elem_size);

  /// Copies memory on the device.
  void copy(Handle const& to, Handle const& from);

  /// Later work on this stream waits for the present work of `other`.
  void wait_for(Stream& other);
  /// Later work on this stream waits for the event.
  void wait_for(CUevent event);
  /// The event of this stream, recorded after its present work. Valid until it is recorded again, later.
  CUevent record();

 private:
  void reclaim();

  tracing::cuda::Driver& driver_;
  Stream& stream_;
  StreamMap const& all_;
};

}  // namespace cuda_tests
