// Implements launches of kernels: the checks at the call, and the work on the stream's thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/executor/machine/places.h"
#include "tracing_core/cuda/activity.h"
#include "tracing_core/cuda/driver/launch_log.h"
#include "tracing_core/perf/recorders.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::cpu {
namespace {

CUresult code_of(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::illegal_address: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::misaligned_address: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::assertion: return CUDA_ERROR_ASSERT;
    case FaultKind::stack_overflow: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case FaultKind::timeout: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::trap:          // as an H100 reports it
    case FaultKind::out_of_range:  // cuda.h: "accessing out of bounds shared memory"
    case FaultKind::barrier:       // a GPU would hang here
    case FaultKind::shuffle:       // a GPU would go on with any value
    case FaultKind::race:
    case FaultKind::uninitialized:
    case FaultKind::stopped: break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

struct Launch {
  std::shared_ptr<LoadedFunction> function;
  LaunchShape shape;
  std::vector<std::byte> parameters;
  bool is_cooperative = false;
  CUstream stream = nullptr;
  tracing::cuda::LaunchId id = 0;
  tracing::Span span;
  CallSite site;
  std::optional<tracing::cuda::DeviceCall> call;  // nothing if activity is not recorded
};

// Reads cuLaunchKernel's `extra`: pairs that give a buffer and its size.
bool read_extra(void** extra, std::vector<std::byte>& parameters) {
  void const* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      std::memcpy(&size, extra[1], sizeof(size));
    else
      return false;
  }
  if (size < parameters.size() || (buffer == nullptr && !parameters.empty())) return false;
  std::copy_n(static_cast<std::byte const*>(buffer), parameters.size(), parameters.begin());
  return true;
}

// Returns true if a subscriber on this thread wants the totals by opcode. Only then does a launch count and time its
// instructions.
bool reports_opcode_totals() {
  return TRACING_INTERNAL_PERF_ENABLED_("opcode_total", ::tracing::internal::level_debug);
}

// Return true if a subscriber wants the totals of each block, too, or a perf span for each operation of a warp. Both
// have level trace; the totals have their own target. So `TRACE_PERF=cuda_cpu=trace` asks for both, and
// `cuda_cpu::blocks=trace` only for the totals.
bool reports_block_totals() { return TRACE_PERF_ENABLED(trace, tracing::target("cuda_cpu::blocks")); }
bool reports_operations() { return TRACE_PERF_ENABLED(trace, tracing::target("cuda_cpu")); }

// Emits a perf event for each opcode: `opcode_total name="cpu_ldg" opcode="ld.global.f32" count=16 threads=512
// duration_us=83 duration_ms=0.083`. `name` is the name of the instruction's perf span, if it has such a span. Then
// emits an event for each block in the statistics and each opcode: `block_opcode_total block=(1, 0, 0) ...`.
void report_opcode_totals(RunStatistics const& statistics, tracing::Span const& span) {
  using tracing::kv;
  auto const took = [](OpcodeStatistics const& its) {
    return tracing::internal::recorded_duration(std::chrono::nanoseconds(its.nanoseconds));
  };
  // span.data() is a literal, or null, which omits the field.
  for (auto const& [opcode, all] : statistics.opcodes) {
    TRACE_PERF_EVENT("opcode_total", kv("name", all.span.data()), kv("opcode", opcode), kv("count", all.count),
                     kv("threads", all.threads), kv("duration_us", took(all).us), kv("duration_ms", took(all).ms),
                     tracing::parent(span));
  }
  std::vector<BlockStatistics const*> blocks;
  for (auto const& block : statistics.blocks) blocks.push_back(&block);
  std::ranges::sort(blocks, {}, [](auto const* its) { return std::tuple(its->block.z, its->block.y, its->block.x); });
  for (auto const* const of : blocks) {
    for (auto const& [opcode, its] : of->opcodes) {
      TRACE_PERF_EVENT("block_opcode_total", kv("block", std::tuple(of->block.x, of->block.y, of->block.z)),
                       kv("name", statistics.opcodes.at(opcode).span.data()), kv("opcode", opcode),
                       kv("count", its.count), kv("threads", its.threads), kv("duration_us", took(its).us),
                       kv("duration_ms", took(its).ms), tracing::target("cuda_cpu::blocks"), tracing::parent(span));
    }
  }
}

void report_run(Launch const& launch, tracing::Instant begin, tracing::Instant end) noexcept {
  auto const& [grid, block, dynamic_shared_bytes] = launch.shape;
  auto const& entry = *launch.function->function;
  tracing::cuda::report_activity(*launch.call, {.kind = tracing::cuda::ActivityKind::kernel,
                                                .begin = begin,
                                                .end = end,
                                                .kernel = launch.function->name,
                                                .grid = {grid.x, grid.y, grid.z},
                                                .block = {block.x, block.y, block.z},
                                                .shared_bytes = entry.static_shared_bytes + dynamic_shared_bytes,
                                                .dynamic_shared_bytes = dynamic_shared_bytes,
                                                .registers = entry.registers_used()});
}

// The memory of RunOptions::grid_workspace: memory of the host that kernels may use.
class GridWorkspace {
 public:
  explicit GridWorkspace(DeviceMemory& memory) : memory_(memory) { memory_.map_host(bytes_.data(), bytes_.size()); }
  GridWorkspace(GridWorkspace const&) = delete;
  GridWorkspace& operator=(GridWorkspace const&) = delete;
  ~GridWorkspace() { memory_.unmap_host(bytes_.data()); }

  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }

 private:
  DeviceMemory& memory_;
  alignas(kGridWorkspaceBytes) std::array<std::byte, kGridWorkspaceBytes> bytes_{};
};

// Returns a fault if work of another stream accessed the same memory and nothing orders the two.
std::optional<Fault> find_stream_race(Device& device, Launch const& launch, std::vector<AccessedRange> accessed) {
  std::string const kernel = name_in_message(launch.function->function->name);
  std::string const number = launch.id == 0 ? "" : fmt::format(" (launch {})", launch.id);
  auto text = device.find_stream_race("kernel " + kernel + number, std::move(accessed));
  if (!text) return std::nullopt;
  Fault fault;
  fault.kind = FaultKind::race;
  fault.kernel = launch.function->function->name;
  fault.message = *std::move(text);
  return fault;
}

// Runs a kernel on the stream's thread. Does not enter the span of the launch: the caller owns it, and `testlog stats`
// would add the time of the kernel to the time of the call. If launches are not traced, `launch.span` is the caller's
// current span.
void run(Device& device, Launch const& launch) {
  bool const reports_blocks = reports_block_totals();
  bool const reports_totals = reports_blocks || reports_opcode_totals();
  RunOptions options;
  // Called on any thread: the kernel's output is also an event in the span of the launch.
  options.print = [&device, &launch](std::string_view text) {
    device.prints.append(text);
    TRACE_DEBUG("{}", text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0)), tracing::parent(launch.span),
                tracing::target("cuda_cpu::printf"));
  };
  options.note = [&launch](std::string_view text) {
    TRACE_WARN("{}", text, tracing::parent(launch.span), tracing::target("tracing::cuda"));
    if (!TRACE_ENABLED(warn, tracing::target("tracing::cuda")))
      std::fprintf(stderr, "testlog: %.*s\n", static_cast<int>(text.size()), text.data());
  };
  options.parent = launch.span;
  options.timeout = device.options.timeout;
  options.checks = device.options.checks;
  std::vector<AccessedRange> accessed;
  if (options.checks.race && device.streams.are_several()) options.accessed = &accessed;
  options.stale_shuffle = device.options.stale_shuffle;
  options.opcode_statistics = reports_totals;
  options.block_statistics = reports_blocks;
  options.instruction_spans = reports_operations();
  options.find_image = [&device](std::uint64_t handle) { return device.find_image(handle); };
  options.stop = device.stop.get_token();
  std::optional<GridWorkspace> workspace;
  if (launch.is_cooperative) options.grid_workspace = workspace.emplace(device.memory).address();
  RunStatistics statistics;
  tracing::Instant const begin = launch.call ? tracing::Instant::now() : tracing::Instant();
  auto fault = device.executor().run(*launch.function->kernel, launch.shape, launch.parameters, device.memory, options,
                                     reports_totals ? &statistics : nullptr);
  workspace.reset();
  if (!fault && options.accessed != nullptr) fault = find_stream_race(device, launch, std::move(accessed));
  if (launch.call) report_run(launch, begin, tracing::Instant::now());
  if (reports_totals) report_opcode_totals(statistics, launch.span);
  if (!fault || fault->kind == FaultKind::stopped) return;
  auto const code = code_of(fault->kind);
  if (!launch.site.empty()) fault->message.append("; launched at ").append(launch.site.text());
  device.fail({code, launch.id, launch.stream, std::move(*fault)});
}

bool is_within(Dimensions const& shape, unsigned x, unsigned y, unsigned z) noexcept {
  auto const fits = [](unsigned value, unsigned limit) { return value >= 1 && value <= limit; };
  return fits(shape.x, x) && fits(shape.y, y) && fits(shape.z, z);
}

}  // namespace

bool is_possible_grid(Dimensions const& grid) noexcept { return is_within(grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ); }
bool is_possible_block(Dimensions const& block) noexcept {
  return is_within(block, kMaxThreads, kMaxThreads, kMaxBlockZ) && block.count() <= kMaxThreads;
}

CUresult check_launch(LoadedFunction const& function, LaunchShape const& shape) {
  auto const& [grid, block, dynamic_shared_bytes] = shape;
  auto const& entry = *function.function;
  if (grid.count() == 0 || block.count() == 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the grid or the block is empty");
  if (!is_possible_grid(grid)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the grid is larger than 2147483647 x 65535 x 65535 blocks");
  }
  if (!is_possible_block(block)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the block is larger than 1024 threads, or than 1024 x 1024 x 64");
  }
  if (dynamic_shared_bytes > static_cast<unsigned>(std::max(0, function.max_dynamic_shared_bytes.load()))) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  fmt::format("{} bytes of dynamic shared memory; the limit of {} is {}", dynamic_shared_bytes,
                              entry.name, function.max_dynamic_shared_bytes.load()));
  }
  if (block.count() > entry.max_threads()) {
    return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, fmt::format("the block has {} threads; the limit of {} is {}",
                                                                  block.count(), entry.name, entry.max_threads()));
  }
  return CUDA_SUCCESS;
}

CUresult read_parameters(ptx::Function const& entry, void** pointers, void** extra,
                         std::vector<std::byte>& parameters) {
  parameters.resize(entry.parameter_bytes);
  if (pointers != nullptr && extra != nullptr)
    return refuse(CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra are given");
  if (extra != nullptr) {
    return read_extra(extra, parameters)
               ? CUDA_SUCCESS
               : refuse(CUDA_ERROR_INVALID_VALUE,
                        "the parameter buffer is too small, missing, or followed by an unknown option");
  }
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    auto const& parameter = entry.parameters[i];
    if (pointers == nullptr || pointers[i] == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("parameter {} of {} is missing", i + 1, entry.name));
    }
    std::memcpy(parameters.data() + parameter.offset_bytes, pointers[i], parameter.size_bytes);
  }
  return CUDA_SUCCESS;
}

namespace {

CUresult submit(CUfunction handle, LaunchShape const& shape, CUstream stream_handle, void** pointers, void** extra,
                bool is_cooperative) {
  return on_stream(stream_handle, [&](Device& device, auto& stream) {
    auto const function = device.functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const launch = std::make_shared<Launch>();
    launch->function = function;
    launch->shape = shape;
    launch->is_cooperative = is_cooperative;
    launch->stream = stream_handle;
    if (auto const result = check_launch(*function, shape); result != CUDA_SUCCESS) return result;
    std::uint64_t const max_blocks = std::uint64_t{device.multiprocessors()} * kMaxBlocksPerMultiprocessor;
    if (is_cooperative && shape.grid.count() > max_blocks) {
      return refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                    fmt::format("a cooperative launch of {} blocks; the limit is {}, {} for each multiprocessor",
                                shape.grid.count(), max_blocks, kMaxBlocksPerMultiprocessor));
    }
    auto const result = read_parameters(*function->function, pointers, extra, launch->parameters);
    if (result != CUDA_SUCCESS) return result;
    launch->id = tracing::cuda::current_launch();
    launch->span = tracing::Span::current();
    launch->site = this_call();
    launch->call = tracing::cuda::current_device_call(tracing::cuda::ActivityKind::kernel);
    auto const end = device.submit(stream, [&device, launch] { run(device, *launch); });
    return device.launches_block ? device.wait({end}) : CUDA_SUCCESS;
  });
}

}  // namespace

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** pointers,
                       void** extra) {
  return submit(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, stream, pointers,
                extra, false);
}

CUresult launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** pointers) {
  return submit(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, stream, pointers,
                nullptr, true);
}

}  // namespace cuda_cpu::cpu
