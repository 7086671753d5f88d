#define TRACE_TARGET "cuda_tests::client"
#include "cuda_tests/runtime/client.h"

#include <functional>
#include <numeric>

#include "cuda_tests/runtime/error.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {

void Client::launch(Kernel const& kernel, CubeCount count, std::vector<Argument> const& arguments, ExecutionMode mode,
                    unsigned shared_bytes) const {
  TRACE_SPAN(trace, "launch_inner", count, mode, tracing::kv("stream_id", stream_),
             tracing::kv("kernel.name", tracing::display(kernel.name)));
  server_->launch(stream_, kernel, count, arguments, mode, shared_bytes);
}

Handle Client::to_client(Handle const& handle, Client const& other, FloatKind dtype) const {
  TRACE_SPAN(trace, "to_client", dtype);
  return transfer(handle, {handle.bytes}, 1, other, dtype);
}

Handle Client::to_client_tensor(Handle const& handle, Shape const& shape, Client const& other, FloatKind dtype) const {
  TRACE_SPAN(trace, "to_client_tensor", dtype);
  std::size_t const elem_size = size_of(dtype);
  auto const elements = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  if (elements * elem_size != handle.bytes)
    throw Error(CUDA_ERROR_INVALID_VALUE, "the shape of the tensor does not match its memory");
  return transfer(handle, shape, elem_size, other, dtype);
}

Handle Client::transfer(Handle const& handle, Shape const& shape, std::size_t elem_size, Client const& other,
                        FloatKind dtype) const {
  if (!server_->shares_device_with(*other.server_)) return change_client_sync(handle, shape, elem_size, other);
  Handle copy = other.empty(handle.bytes);
  CUevent const complete = server_->send(stream_, handle, dtype, other.server_->device_id());
  CUevent const copied = other.server_->recv(other.stream_, copy, handle, complete, dtype, server_->device_id());
  server_->release(handle, copied);
  return copy;
}

Handle Client::change_client_sync(Handle const& handle, Shape const& shape, std::size_t elem_size,
                                  Client const& other) const {
  TRACE_SPAN(trace, "change_client_sync");
  auto const bytes = block_on([&] { return server_->read(stream_, handle, shape, elem_size); });
  return other.server_->create(other.stream_, bytes, shape, elem_size);
}

void Client::sync() const {
  block_on([&] { server_->sync(stream_); });
}

tracing::Span internal::block_on_span() {
  return TRACE_MAKE_SPAN(trace, "block_on", tracing::target("cuda_tests::future::base"));
}

}  // namespace cuda_tests
