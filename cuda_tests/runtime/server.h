// Declares Server, which does for all clients what they ask of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "cuda_tests/runtime/command.h"
#include "cuda_tests/runtime/context.h"

namespace cuda_tests {

/// What a kernel gets: memory, or a number by itself.
using Argument = std::variant<Handle, std::int32_t, std::uint32_t, float, double>;

/// Thread-safe: one request at a time. Requests throw Error.
class Server {
 public:
  explicit Server(Backend& backend);
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;
  ~Server();

  Handle empty(StreamId stream, std::size_t size);
  Handle create(StreamId stream, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size);
  std::vector<std::byte> read(StreamId stream, Handle const& handle, Shape const& shape, std::size_t elem_size);
  void launch(StreamId stream, Kernel const& kernel, CubeCount count, std::vector<Argument> const& arguments,
              ExecutionMode mode, unsigned shared_bytes);
  void sync(StreamId stream);
  /// Whether the stream has done all that was asked of it.
  bool is_done(StreamId stream);

  Backend& backend() noexcept { return backend_; }

 private:
  Stream& stream(StreamId id);
  Command on(Stream& stream) { return {backend_.driver(), stream, streams_}; }
  // Memory made on other streams: what those were asked to do comes first.
  std::vector<Stream*> wait_for_owners(Stream& waiting, std::vector<Argument> const& arguments);

  std::mutex mutex_;
  Backend& backend_;
  Context context_;
  GpuStorage gpu_;
  PinnedStorage pinned_;
  StreamMap streams_;
};

}  // namespace cuda_tests
