#define TRACE_TARGET "cuda_tests::compute::server"
#include "cuda_tests/runtime/server.h"

#include <algorithm>

#include "cuda_tests/runtime/error.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {

Server::Server(Backend& backend)
    : backend_(backend), context_(backend), gpu_(backend.driver()), pinned_(backend.driver()) {
  check(backend.driver().make_current(), "cannot use the device");
  TRACE_INFO("Peer data transfer not available for device {}", 0);
}

Server::~Server() {
  backend_.driver().make_current();
  streams_.clear();
}

Stream& Server::stream(StreamId id) {
  check(backend_.driver().make_current(), "cannot use the device");
  auto const found = streams_.find(id);
  if (found != streams_.end()) return *found->second;
  return *streams_.emplace(id, std::make_unique<Stream>(backend_.driver(), gpu_, pinned_, id)).first->second;
}

Handle Server::empty(StreamId id, std::size_t size) {
  tracing::support::MutexLock const lock(mutex_);
  return on(stream(id)).empty(size);
}

Handle Server::create(StreamId id, std::span<std::byte const> data, Shape const& shape, std::size_t elem_size) {
  tracing::support::MutexLock const lock(mutex_);
  Command command = on(stream(id));
  Handle handle = command.empty(data.size());
  command.write_to_gpu(handle, data, shape, elem_size);
  return handle;
}

std::vector<std::byte> Server::read(StreamId id, Handle const& handle, Shape const& shape, std::size_t elem_size) {
  tracing::support::MutexLock const lock(mutex_);
  Stream& reader = stream(id);
  wait_for_owners(reader, {handle});
  return on(reader).write_to_cpu(handle, shape, elem_size);
}

CUevent Server::send(StreamId id, Handle const& handle, FloatKind dtype, DeviceId device_id_dst) {
  TRACE_SPAN(trace, "send", dtype, tracing::kv("stream_id", id), device_id_dst);
  tracing::support::MutexLock const lock(mutex_);
  Stream& own = stream(id);
  wait_for_owners(own, {handle});
  return on(own).record();
}

CUevent Server::recv(StreamId id, Handle const& handle, Handle const& from, CUevent complete, FloatKind dtype,
                     DeviceId device_id_src) {
  TRACE_SPAN(trace, "recv", handle, dtype, tracing::kv("stream_id", id), device_id_src);
  tracing::support::MutexLock const lock(mutex_);
  Command command = on(stream(id));
  command.wait_for(complete);
  command.copy(handle, from);
  return command.record();
}

void Server::release(Handle const& handle, CUevent copied) {
  tracing::support::MutexLock const lock(mutex_);
  on(stream(handle.stream)).wait_for(copied);
}

void Server::launch(StreamId id, Kernel const& kernel, CubeCount count, std::vector<Argument> const& arguments,
                    ExecutionMode mode, unsigned shared_bytes) {
  tracing::support::MutexLock const lock(mutex_);
  Stream& own = stream(id);
  CUfunction const function = context_.function(kernel, mode);
  auto const owners = wait_for_owners(own, arguments);

  std::vector<CUdeviceptr> addresses;
  addresses.reserve(arguments.size());  // so that params can point to the elements
  std::vector<void*> params;
  for (Argument const& argument : arguments) {
    if (auto const* const handle = std::get_if<Handle>(&argument)) {
      params.push_back(&addresses.emplace_back(handle->address()));
    } else {
      std::visit([&](auto const& value) { params.push_back(const_cast<void*>(static_cast<void const*>(&value))); },
                 argument);
    }
  }
  auto const [x, y, z] = count;
  CubeDim const& block = kernel.id.cube_dim;
  check(backend_.driver().launch_kernel(function, {x, y, z}, {block.x, block.y, block.z}, shared_bytes, own.get(),
                                        params.data()),
        "cannot launch");
  // The owners may reuse the memory once it is released, so they wait for the kernel.
  for (Stream* const owner : owners) on(*owner).wait_for(own);
}

void Server::sync(StreamId id) {
  tracing::support::MutexLock const lock(mutex_);
  stream(id).synchronize();
}

bool Server::is_done(StreamId id) {
  tracing::support::MutexLock const lock(mutex_);
  CUresult const result = backend_.driver().stream_query(stream(id).get());
  if (result != CUDA_ERROR_NOT_READY) check(result, "cannot query a stream");
  return result == CUDA_SUCCESS;
}

std::vector<Stream*> Server::wait_for_owners(Stream& waiting, std::vector<Argument> const& arguments) {
  std::vector<Stream*> owners;
  for (Argument const& argument : arguments) {
    auto const* const handle = std::get_if<Handle>(&argument);
    if (handle == nullptr || handle->stream == waiting.id()) continue;
    Stream& owner = stream(handle->stream);
    if (std::ranges::find(owners, &owner) != owners.end()) continue;
    on(waiting).wait_for(owner);
    owners.push_back(&owner);
  }
  return owners;
}

}  // namespace cuda_tests
