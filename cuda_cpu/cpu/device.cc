#include "cuda_cpu/cpu/device.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <thread>

#include "cuda_cpu/cpu/caller_target.h"
#include "cuda_cpu/cpu/lasting_thread_local.h"
#include "cuda_cpu/cpu/settings.h"
#include "tracing_core/support/short_text.h"

namespace cuda_cpu::cpu {
namespace {

constinit Mutex start_mutex;
CpuDriverOptions chosen_options TRACING_GUARDED_BY(start_mutex);
constinit std::atomic<Device*> device{nullptr};
constinit std::atomic<bool> forked_since_start{false};

// Returns true in a forked child. The device belongs to the parent process, and the child lacks its threads.
bool is_forked_child() noexcept {
  return Device::get() != nullptr && forked_since_start.load(std::memory_order_relaxed);
}

// Runs after the destructors of static objects and the functions of atexit(), in which programs free their pools. At
// that point only _exit() can change the status.
[[gnu::destructor]] void check_leaks_at_exit() {
  Device* const its = Device::get();
  if (its == nullptr || !its->options.leak_check || is_forked_child()) return;
  its->report_leaks();
  if (!its->has_leaked || !its->options.changes_status) return;
  std::fflush(nullptr);
  _exit(1);
}

bool is_set_in_environment(char const* name) {
  char const* const value = secure_getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

CpuDriverOptions complete(CpuDriverOptions const& options) {
  std::string reports;
  auto const all = with_environment(
      options, [](char const* name) -> char const* { return secure_getenv(name); }, reports);
  std::fputs(reports.c_str(), stderr);
  return all;
}

Fault fault_with(std::string message) {
  Fault fault;
  fault.message = std::move(message);
  return fault;
}

}  // namespace

void PrintBuffer::append(std::string_view text) {
  constexpr std::size_t kMaxBytes = 1 << 20;  // like the driver's buffer; the oldest output is dropped
  MutexLock const lock(mutex_);
  text_ += text;
  if (text_.size() > kMaxBytes) text_.erase(0, text_.size() - kMaxBytes);
}

void PrintBuffer::flush() {
  MutexLock const lock(mutex_);
  if (text_.empty()) return;
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fflush(stdout);
  text_.clear();
}

Device::Device(CpuDriverOptions const& its_options)
    : options(complete(its_options)),
      launches_block(is_set_in_environment("CUDA_LAUNCH_BLOCKING")),
      memory(options.memory_bytes),
      streams(options.checks.race) {}

Device* Device::get() noexcept { return device.load(std::memory_order_acquire); }

CUresult Device::start(unsigned flags) {
  if (is_forked_child()) return check_started();
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  MutexLock const lock(start_mutex);
  if (get() != nullptr) return CUDA_SUCCESS;
  // This library needs its own handler. libcudart.so.13 has a separate copy of the variable behind
  // tracing::support::fork_count(), since its symbols are local, and nobody counts that copy up.
  static int const handler = pthread_atfork(nullptr, nullptr, [] { forked_since_start = true; });
  if (handler != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  forked_since_start = false;
  device.store(new Device(chosen_options), std::memory_order_release);
  return CUDA_SUCCESS;
}

Executor& Device::executor() {
  std::call_once(executor_started_, [this] {
    executor_ = std::make_unique<Executor>(
        Executor::Options{.workers = multiprocessors(), .resident_blocks = kMaxBlocksPerMultiprocessor});
  });
  return *executor_;
}

unsigned Device::multiprocessors() const noexcept {
  if (options.workers != 0) return options.workers;
  static unsigned const cores = std::max(std::thread::hardware_concurrency(), 1u);  // static, since it reads a file
  return cores;
}

void Device::fail(CpuDriverFault fault) {
  MutexLock const lock(fault_mutex_);
  if (fault_) return;  // keep the first fault, which may have caused the others
  fault_ = std::move(fault);
  sticky_.store(fault_->code, std::memory_order_release);
  stop.request_stop();
}

std::optional<std::string> Device::find_stream_race(std::string const& name, std::vector<AccessedRange> accessed) {
  WorkOrder const* const order = Streams::current_order();
  if (order == nullptr) return std::nullopt;
  auto const found = races.add(*order, name, std::move(accessed), [&](std::uintptr_t address, std::uint64_t bytes) {
    return tracing::support::counted(bytes, "byte") + " " + memory.describe(address, bytes);
  });
  if (!found) return std::nullopt;
  return "a race of two streams: " + name + " accesses " + *found + ", without an event or a wait between";
}

void Device::note_copy(char const* name, void const* target, void const* source, std::size_t bytes) {
  if (Streams::current_order() == nullptr || !streams.are_several()) return;
  std::vector<AccessedRange> accessed;
  auto const add = [&](void const* place, bool wrote) {
    auto const begin = reinterpret_cast<std::uintptr_t>(place);
    if (memory.find(begin, bytes)) accessed.push_back({begin, begin + bytes, wrote, false});
  };
  if (source != nullptr) add(source, false);
  if (target != nullptr) add(target, true);
  std::ranges::sort(accessed, {}, &AccessedRange::begin);
  auto found = find_stream_race(name, std::move(accessed));
  if (found) fail({CUDA_ERROR_LAUNCH_FAILED, 0, nullptr, fault_with(*std::move(found))});
}

std::optional<CpuDriverFault> Device::last_fault() const {
  MutexLock const lock(fault_mutex_);
  return fault_;
}

Streams::Handle Device::find_stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return streams.legacy();
  if (handle != CU_STREAM_PER_THREAD) return stream_handles.find(handle);
  auto& own = this_thread().stream;
  if (own == nullptr) own = streams.create(true);
  return own;
}

Mark Device::submit(Streams::Handle const& stream, std::function<void()> work) {
  return streams.submit(stream, [this, work = std::move(work)] {
    try {
      if (sticky() == CUDA_SUCCESS) work();
    } catch (std::exception const& thrown) {  // for instance std::bad_alloc
      fail({CUDA_ERROR_LAUNCH_FAILED, 0, nullptr, fault_with(thrown.what())});
    } catch (...) {
      fail({CUDA_ERROR_LAUNCH_FAILED, 0, nullptr, fault_with("an exception of an unknown type")});
    }
  });
}

Mark Device::submit_host_function(Streams::Handle const& stream, std::function<void()> function) {
  return streams.submit(stream, [this, function = std::move(function)]() noexcept {
    streams.show_to_host();
    if (sticky() == CUDA_SUCCESS) function();
  });
}

CUresult Device::wait(std::vector<Mark> const& marks) {
  streams.wait(marks);
  prints.flush();
  return sticky();
}

void Device::report_leaks() {
  if (sticky() != CUDA_SUCCESS) return;                       // the program could not free memory after that
  std::vector<std::pair<std::uintptr_t, char const*>> leaks;  // address and test
  {
    MutexLock const lock(allocations_mutex);
    auto const add = [&](std::uintptr_t address, LeakNote const& note) {
      if (!note.is_allowed) leaks.emplace_back(address, note.test);
    };
    for (auto const& [address, its] : allocations) add(address, its.leak_note);
    for (auto const& [address, its] : host_memory) add(address, its.leak_note);
  }
  if (leaks.empty()) return;
  std::string text = "testlog: TRACE_CUDA_CHECK=leak: " + std::to_string(leaks.size()) +
                     (leaks.size() == 1 ? " allocation was" : " allocations were") + " not freed:\n";
  constexpr std::size_t kMaxNamed = 20;
  std::span const named = std::span(leaks).first(std::min(leaks.size(), kMaxNamed));
  std::vector<CallSite> sites;
  for (auto const& [address, test] : named) sites.push_back(memory.site_of(address));
  find_names(sites);
  for (auto const& [address, test] : named) {
    text.append("  ").append(memory.name_of(address));
    if (test != nullptr) text.append(", in test ").append(test);
    text += '\n';
  }
  if (leaks.size() > kMaxNamed) text += "  ...\n";
  std::fputs(text.c_str(), stderr);
  has_leaked = true;
}

void Device::clear() {
  streams.wait(streams.end_of_all());
  prints.flush();
  if (options.leak_check) report_leaks();
  for (auto const& [handle, stream] : stream_handles.take_all()) streams.close(stream);
  events.take_all();
  functions.take_all();
  textures.take_all();
  surfaces.take_all();
  arrays.take_all();
  modules.take_all();
  MutexLock const lock(allocations_mutex);
  for (auto const& [address, its] : std::exchange(allocations, {})) memory.free(address, "freed with their context");
  memory.clear_heap();
  for (auto& [pool, use] : pools) use.used = 0;
  for (auto const& [address, its] : std::exchange(host_memory, {})) memory.unmap_host(its.held.get());
  for (std::uintptr_t const address : std::exchange(registered, {}))
    memory.unmap_host(reinterpret_cast<void*>(address));
}

void DriverThreadState::end() noexcept {
  if (stream != nullptr && !is_forked_child()) Device::get()->streams.close(stream);
  stream = nullptr;
  std::string().swap(last_message);
}

DriverThreadState& this_thread() noexcept { return lasting_thread_local<DriverThreadState>(); }

namespace {

// Finds the target of the code that made the call, also if the device records no frames.
void find_target(tracing::internal::CurrentCaller& caller) noexcept {
  DriverThreadState const& thread = this_thread();
  caller.target = target_of(thread.has_launch_site ? thread.launch_site : callers_of(thread.entry, CallSite::kMax));
}

}  // namespace

CallerScope::CallerScope(void const* frame) noexcept
    : is_outermost_(this_thread().entry == nullptr),
      records_(tracing::internal::CurrentCaller{.find = find_target}),
      silence_(tracing::internal::current_caller()->library != nullptr) {
  if (is_outermost_) this_thread().entry = frame;
}

CallerScope::~CallerScope() {
  if (!is_outermost_) return;
  this_thread().entry = nullptr;
  this_thread().has_launch_site = false;
}

CallSite this_call() noexcept {
  DriverThreadState const& thread = this_thread();
  if (thread.has_launch_site) return thread.launch_site;
  if (thread.entry == nullptr || Device::get() == nullptr) return {};
  return callers_of(thread.entry, Device::get()->options.frames);
}

CUcontext primary_context() noexcept { return reinterpret_cast<CUcontext>(std::uintptr_t{0x01000000}); }

CUresult check_started() noexcept {
  if (is_forked_child())
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "this process was forked from one that had used CUDA");
  if (Device::get() == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  return this_thread().runs_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

CUresult check_context() noexcept {
  if (auto const result = check_started(); result != CUDA_SUCCESS) return result;
  if (this_thread().current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (Device::get()->retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return Device::get()->sticky();
}

CUresult refuse(CUresult code, std::string message) {
  this_thread().last_message = std::move(message);
  return code;
}

CUresult refuse_memory(std::string message) {
  this_thread().is_memory_error = true;
  return refuse(CUDA_ERROR_INVALID_VALUE, std::move(message));
}

}  // namespace cuda_cpu::cpu

namespace cuda_cpu {

using cpu::Device;

tracing::cuda::DriverApi cpu_driver_api() noexcept {
  tracing::cuda::DriverApi api;
#define CUDA_CPU_FILL(member, symbol, version) api.member = cpu::member;
  TRACING_CUDA_BASIC_DRIVER_CALLS(CUDA_CPU_FILL)
#undef CUDA_CPU_FILL
  return api;
}

bool set_cpu_driver_options(CpuDriverOptions const& options) {
  cpu::MutexLock const lock(cpu::start_mutex);
  if (Device::get() != nullptr) return false;
  cpu::chosen_options = options;
  return true;
}

std::optional<CpuDriverFault> cpu_driver_last_fault() {
  return Device::get() == nullptr ? std::nullopt : Device::get()->last_fault();
}

tracing::cuda::DriverOptions cpu_driver_options() {
  tracing::cuda::DriverOptions options;
  options.failed_launch = [] {
    auto const fault = cpu_driver_last_fault();
    return fault ? tracing::cuda::DriverOptions::Failed{fault->launch, fault->fault.message, fault->work}
                 : tracing::cuda::DriverOptions::Failed{};
  };
  options.last_message = cpu_driver_last_message;
  options.measures_launches = true;
  return options;
}

std::string cpu_driver_last_message() { return cpu::this_thread().last_message; }

}  // namespace cuda_cpu
