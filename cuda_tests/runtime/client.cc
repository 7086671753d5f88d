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
  auto const bytes = server_->read(stream_, handle, {handle.bytes}, 1);
  return other.server_->create(other.stream_, bytes, {bytes.size()}, 1);
}

Handle Client::to_client_tensor(Handle const& handle, Shape const& shape, Client const& other, FloatKind dtype) const {
  TRACE_SPAN(trace, "to_client_tensor", dtype);
  std::size_t const elem_size = size_of(dtype);
  auto const elements = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  if (elements * elem_size != handle.bytes)
    throw Error(CUDA_ERROR_INVALID_VALUE, "the shape of the tensor does not match its memory");
  auto const bytes = server_->read(stream_, handle, shape, elem_size);
  return other.server_->create(other.stream_, bytes, shape, elem_size);
}

void Client::sync() const {
  block_on([&] { server_->sync(stream_); });
}

tracing::Span internal::block_on_span() {
  return TRACE_MAKE_SPAN(trace, "block_on", tracing::target("cuda_tests::future::base"));
}

}  // namespace cuda_tests
