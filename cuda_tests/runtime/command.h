// Declares Command, what the server does on one stream.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cuda_tests/runtime/stream.h"

namespace cuda_tests {

/// The elements of a tensor along its axes.
using Shape = std::vector<std::size_t>;

/// Lives as long as one request of a client.
class Command {
 public:
  /// `all` has `stream`, and the others of its device.
  Command(tracing::cuda::Driver& driver, Stream& stream, StreamMap const& all) : driver_(driver), stream_(stream), all_(all) {}

  /// Memory of any content. Where the device has none left, takes back what nobody uses on any stream and tries
  /// once more. Throws Error.
  SliceHandle reserve(std::size_t size);
  /// A handle with memory.
  Handle empty(std::size_t size);
  /// Gives the handle the memory that was reserved.
  void bind(Handle& handle, SliceHandle reserved);

  /// Memory of the host for what the device makes; pinned where that is asked for.
  PinnedBuffer reserve_cpu(std::size_t size, bool marked_pinned, std::optional<StreamId> origin);
  PinnedBuffer reserve_pinned(std::size_t size, std::optional<StreamId> origin);

  void write_to_gpu(Handle const& handle, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size);
  /// Waits for the stream.
  std::vector<std::byte> write_to_cpu(Handle const& handle, Shape const& shape, std::size_t elem_size);

  /// What follows on this stream waits for what `other` was asked to do so far.
  void wait_for(Stream& other);

 private:
  void reclaim();

  tracing::cuda::Driver& driver_;
  Stream& stream_;
  StreamMap const& all_;
};

}  // namespace cuda_tests
