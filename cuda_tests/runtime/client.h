// Client is the interface of a program to a device.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "cuda_tests/runtime/server.h"

namespace cuda_tests {

/// A device and a stream. Copies, and the clients of other streams, share the server. Thread-safe. Throws Error, and
/// launch() also tracing::cuda::CompileError.
class Client {
 public:
  explicit Client(Backend& backend) : server_(std::make_shared<Server>(backend)) {}

  /// Returns a client for another stream of the device.
  Client on_stream(StreamId stream) const {
    Client other = *this;
    other.stream_ = stream;
    return other;
  }
  StreamId stream() const noexcept { return stream_; }

  /// Allocates uninitialised memory.
  Handle empty(std::size_t bytes) const { return server_->empty(stream_, bytes); }
  template <class T>
  Handle create(std::vector<T> const& values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return server_->create(stream_, std::as_bytes(std::span(values)), {values.size()}, sizeof(T));
  }
  /// Waits for the stream and returns the content of the memory.
  template <class T>
  std::vector<T> read(Handle const& handle) const {
    auto const bytes = block_on([&] { return server_->read(stream_, handle, {handle.bytes / sizeof(T)}, sizeof(T)); });
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  /// Launches `count` blocks; returns before they end.
  void launch(Kernel const& kernel, CubeCount count, std::vector<Argument> const& arguments,
              ExecutionMode mode = ExecutionMode::Unchecked, unsigned shared_bytes = 0) const;
  /// Copies the memory to memory of the other client's stream. If both clients have one device, copies on the device
  /// without waiting; otherwise by change_client_sync().
  Handle to_client(Handle const& handle, Client const& other, FloatKind dtype) const;
  /// As to_client(), for a tensor. Throws Error if the size of the memory differs.
  Handle to_client_tensor(Handle const& handle, Shape const& shape, Client const& other, FloatKind dtype) const;
  /// Copies through memory of the host, between any two clients. Waits for this stream.
  Handle change_client_sync(Handle const& handle, Shape const& shape, std::size_t elem_size, Client const& other) const;

  /// Waits for the stream.
  void sync() const;
  bool is_done() const { return server_->is_done(stream_); }

 private:
  template <class F>
  static decltype(auto) block_on(F&& f);
  Handle transfer(Handle const& handle, Shape const& shape, std::size_t elem_size, Client const& other,
                  FloatKind dtype) const;

  std::shared_ptr<Server> server_;
  StreamId stream_;
};

namespace internal {
tracing::Span block_on_span();
}

template <class F>
decltype(auto) Client::block_on(F&& f) {
  tracing::Span const span = internal::block_on_span();
  auto const entered = span.enter();
  return f();
}

}  // namespace cuda_tests
