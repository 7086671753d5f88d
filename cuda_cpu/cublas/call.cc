#define TRACE_TARGET "tracing::cuda::cublas"
#include "cuda_cpu/cublas/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/graph/user_objects.h"
#include "cuda_cpu/process/driver.h"
#include "tracing_core/cuda/errors.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::cublas {
namespace {

using cpu::Device;
using tracing::support::MutexLock;

// What a stream, or the node of a graph, runs.
struct Enqueued {
  std::string call;
  CallSite site;
  CUstream stream = nullptr;
  Work work;
};

void run(Device& device, Enqueued const& its) {
  try {
    Access access(device, its.call, its.site);
    its.work(access);
    access.check_races();
  } catch (WorkFault& thrown) {
    Fault fault;
    fault.kind = thrown.kind;
    fault.message = std::move(thrown.message);
    device.fail({thrown.code, 0, its.stream, std::move(fault), its.call + "()"});
  }
}

// A node of a graph may run as long as there is the graph, so the graph keeps the work.
CUresult make_node(std::shared_ptr<Enqueued> const& its, cudaGraph_t graph_handle, graph::NodeParams& node) {
  auto const graph = graph::find_graph(graph_handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto* const held = new std::shared_ptr<Enqueued>(its);
  auto const destroy = [](void* object) { delete static_cast<std::shared_ptr<Enqueued>*>(object); };
  graph->user_objects[std::make_shared<graph::UserObject>(held, destroy)] = 1;
  node = graph::HostNode{[](void* data) { run(*Device::get(), *static_cast<Enqueued const*>(data)); }, its.get()};
  return CUDA_SUCCESS;
}

CUresult submit(std::shared_ptr<Enqueued> const& its, bool waits) {
  return cpu::on_stream(its->stream, [&](Device& device, auto& stream) {
    auto const end = device.submit(stream, [&device, its] { run(device, *its); });
    return waits || device.launches_block ? device.wait({end}) : CUDA_SUCCESS;
  });
}

void give(Call const& call, Work work, bool waits) {
  auto const its =
      std::make_shared<Enqueued>(Enqueued{call.name, cpu::this_call(), call.context.stream, std::move(work)});
  graph::CaptureInfo info;
  CUresult result = CUDA_SUCCESS;
  if (graph::has_captures()) result = graph::capture_info(its->stream, info);
  if (result == CUDA_SUCCESS && waits) result = graph::check_wait(its->stream);
  if (result == CUDA_SUCCESS) {
    result = graph::enqueue(
        its->stream, [&](graph::NodeParams& node) { return make_node(its, info.graph, node); },
        [&] { return submit(its, waits); });
  }
  if (result != CUDA_SUCCESS) throw CallError{CUBLAS_STATUS_EXECUTION_FAILED, {}, result};
  TRACE_TRACE("enqueued", tracing::kv("stream", process::driver().number_of(its->stream)));
}

}  // namespace

cpu::Handles<Context>& contexts() {
  static auto& its = *new cpu::Handles<Context>(0x80000000);
  return its;
}

void fail_invalid(std::string reason) { throw CallError{CUBLAS_STATUS_INVALID_VALUE, std::move(reason)}; }
void fail_unsupported(std::string reason) {
  throw CallError{CUBLAS_STATUS_NOT_SUPPORTED, std::move(reason) + " is not supported"};
}
void check_pointer(char const* name, void const* pointer) {
  if (pointer == nullptr) fail_invalid(fmt::format("{} is a null pointer", name));
}

std::uint64_t Block::bytes() const noexcept {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t elements = 0;
  std::uint64_t all = 0;
  if (empty()) return 0;
  bool const is_huge =
      __builtin_mul_overflow(static_cast<std::uint64_t>(columns - 1), static_cast<std::uint64_t>(stride), &elements) ||
      __builtin_add_overflow(elements, static_cast<std::uint64_t>(rows), &elements) ||
      __builtin_mul_overflow(elements, element_bytes, &all);
  return is_huge ? kMax : all;
}

void* Access::check(Block const& block, bool reads, bool writes) {
  auto const address = reinterpret_cast<std::uintptr_t>(block.memory);
  std::uint64_t const bytes = block.bytes();
  if (bytes == 0) return nullptr;
  auto range = device_.memory.find(address, bytes);
  if (!range) {
    std::string const where = device_.memory.describe(address, bytes);
    throw WorkFault{CUDA_ERROR_ILLEGAL_ADDRESS, FaultKind::illegal_address,
                    fmt::format("{} of {}(), {} bytes at {:#x}, is not within one allocation{}{}{}", block.name, call_,
                                bytes, address, where.empty() ? "" : ": ", where, called())};
  }
  if (range->written != nullptr && reads && device_.options.checks.init) check_written(block, *range->written);
  bool const is_whole = block.stride == block.rows;
  for (std::int64_t j = 0; j < (is_whole ? 1 : block.columns); ++j) {
    std::uintptr_t const begin = address + static_cast<std::uint64_t>(j * block.stride) * block.element_bytes;
    std::uint64_t const size = is_whole ? bytes : static_cast<std::uint64_t>(block.rows) * block.element_bytes;
    if (range->written != nullptr && writes) range->written->set(begin, size);
    if (device_.options.checks.race) accessed_.push_back({begin, begin + size, writes, false});
  }
  held_.push_back(std::move(range->storage));
  return const_cast<void*>(block.memory);
}

void Access::check_written(Block const& block, WrittenBytes const& written) const {
  auto const begin = reinterpret_cast<std::uintptr_t>(block.memory);
  for (std::int64_t j = 0; j < block.columns; ++j) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      std::uintptr_t const at = begin + static_cast<std::uint64_t>(j * block.stride + i) * block.element_bytes;
      if (written.any(at, block.element_bytes)) continue;
      throw WorkFault{CUDA_ERROR_LAUNCH_FAILED, FaultKind::uninitialized,
                      fmt::format("a read of {} bytes that were never written, {}: element ({}, {}) of {} of {}(){}",
                                  block.element_bytes, device_.memory.describe(at, block.element_bytes), i, j,
                                  block.name, call_, called())};
    }
  }
}

std::string Access::called() const { return site_.empty() ? std::string() : "; called at " + site_.text(); }

void Access::check_races() {
  if (accessed_.empty() || !device_.streams.are_several()) return;
  std::ranges::sort(accessed_, {}, &AccessedRange::begin);
  auto found = device_.find_stream_race(fmt::format("{}()", call_), std::move(accessed_));
  if (found) throw WorkFault{CUDA_ERROR_LAUNCH_FAILED, FaultKind::race, *std::move(found)};
}

void Call::enqueue(Work work) const { give(*this, std::move(work), false); }
void Call::run(Work work) const { give(*this, std::move(work), true); }

std::string written_name(std::string_view function) {
  std::string name(function);
  if (auto const at = name.find("_v2"); at != std::string::npos) name.erase(at, 3);
  return name;
}

cublasStatus_t finish_failed(CallError const& error, std::string_view function) noexcept {
  try {
    std::string const name = written_name(function);
    if (error.result != CUDA_SUCCESS) {
      process::driver().check(error.result, name + "()");
      process::explain_if_lost(error.result);
      process::report_failed_call(error.result);
    } else {
      process::report_failed_call(name + "()", error.reason, cublasGetStatusName(error.status), error.status);
    }
  } catch (...) {  // out of memory
  }
  return error.status;
}

// Declared by refused.cc, too.
int refuse_call(char const* name, char const* reason) noexcept;
int refuse_call(char const* name, char const* reason) noexcept {
  return call_without_handle(
      [&] {
        throw CallError{CUBLAS_STATUS_NOT_SUPPORTED, *reason == '\0' ? "not supported" : reason};
      },
      process::Where::current(name));
}

std::shared_ptr<Context> begin_call(cublasHandle_t handle) {
  auto context = contexts().find(handle);
  if (context == nullptr) {
    throw CallError{CUBLAS_STATUS_NOT_INITIALIZED,
                    handle == nullptr ? "the handle is null; cublasCreate() makes one"
                                      : "there is no such handle: it was destroyed, or is none of cublasCreate()"};
  }
  if (cudaError_t const error = process::start(); error != cudaSuccess)
    throw CallError{CUBLAS_STATUS_EXECUTION_FAILED, {}, static_cast<CUresult>(error)};
  return context;
}

}  // namespace cuda_cpu::cublas
