// Server executes the requests of all clients of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "cuda_tests/runtime/command.h"
#include "cuda_tests/runtime/context.h"
#include "tracing_core/support/mutex.h"

namespace cuda_tests {

/// An argument of a kernel: memory or a number.
using Argument = std::variant<Handle, std::int32_t, std::uint32_t, float, double>;

/// Executes requests, one at a time. Thread-safe. Requests throw Error.
class Server {
 public:
  explicit Server(Backend& backend);
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;
  ~Server();

  Handle empty(StreamId stream, std::size_t size);
  Handle create(StreamId stream, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size);
  std::vector<std::byte> read(StreamId stream, Handle const& handle, Shape const& shape, std::size_t elem_size);
  /// Returns true if send() and recv() can copy from this server's memory to the memory of `other`.
  bool shares_device_with(Server const& other) const noexcept { return &backend_ == &other.backend_; }
  DeviceId device_id() const noexcept { return {}; }  // a backend has one device
  /// Copy between servers, on the device. First the owner's send() returns an event that completes when the memory is
  /// ready. Then recv() copies the memory to `handle`, on its own stream after that event, and returns an event that
  /// completes with the copy. Last, the owner's release() makes the owner wait for the second event before it reuses
  /// the memory.
  CUevent send(StreamId stream, Handle const& handle, FloatKind dtype, DeviceId device_id_dst);
  CUevent recv(StreamId stream, Handle const& handle, Handle const& from, CUevent complete, FloatKind dtype,
               DeviceId device_id_src);
  void release(Handle const& handle, CUevent copied);

  void launch(StreamId stream, Kernel const& kernel, CubeCount count, std::vector<Argument> const& arguments,
              ExecutionMode mode, unsigned shared_bytes);
  void sync(StreamId stream);
  /// Returns true if the stream has no pending work.
  bool is_done(StreamId stream);

 private:
  Stream& stream(StreamId id) TRACING_REQUIRES(mutex_);
  Command on(Stream& stream) TRACING_REQUIRES(mutex_) { return {backend_.driver(), stream, streams_}; }
  // Makes `waiting` wait for the other streams on which arguments were allocated; returns them.
  std::vector<Stream*> wait_for_owners(Stream& waiting, std::vector<Argument> const& arguments)
      TRACING_REQUIRES(mutex_);

  tracing::support::Mutex mutex_;
  Backend& backend_;
  Context context_ TRACING_GUARDED_BY(mutex_);
  GpuStorage gpu_;
  PinnedStorage pinned_;
  StreamMap streams_ TRACING_GUARDED_BY(mutex_);
};

}  // namespace cuda_tests
