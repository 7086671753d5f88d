#define TRACE_TARGET "tracing::cuda"

#include "tracing_core/cuda/compile_cache.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "tracing_core/cuda/compile_internal.h"
#include "tracing_core/cuda/compile_key.h"
#include "tracing_core/cuda/kernel_file.h"
#include "tracing_core/tracing.h"

namespace tracing::inline v1::cuda {

using Kernel = std::shared_ptr<CompiledKernel const>;

struct CompileCache::State {
  // Null: somebody is compiling it.
  using Entries = std::unordered_map<std::string, Kernel>;

  State(NvrtcApi const& api, CompileCacheOptions given) : nvrtc(api), options(std::move(given)) {}

  NvrtcApi const nvrtc;
  CompileCacheOptions const options;

  std::mutex mutable mutex;
  std::condition_variable done;
  Entries entries;  // guarded by mutex
  Counts counts;    // guarded by mutex

  // What is there, once nobody is compiling it; nothing: it is this thread's to make.
  Kernel find_or_begin(std::string const& key) {
    std::unique_lock lock(mutex);
    while (true) {
      auto const [entry, is_new] = entries.try_emplace(key);
      if (is_new) return nullptr;
      if (entry->second != nullptr) return ++counts.memory_hits, entry->second;
      done.wait(lock);
    }
  }

  // Null: it could not be made, and who waited for it tries for itself.
  void end(std::string const& key, Kernel kernel) {
    {
      std::lock_guard const lock(mutex);
      if (kernel == nullptr) entries.erase(key);
      else entries[key] = std::move(kernel);
    }
    done.notify_all();
  }

  void count(std::uint64_t Counts::* which) {
    std::lock_guard const lock(mutex);
    ++(counts.*which);
  }

  Kernel compile(CompileRequest const& request, char const* cache) {
    count(&Counts::compiled);
    TRACE_TRACE("Compiling kernel");
    return std::make_shared<CompiledKernel>(internal::compile(nvrtc, request, cache));
  }

  Kernel from_folder(std::string const& name, CompileRequest const& request) {
    internal::KernelFile file = internal::read_kernel(options.folder + "/" + name);
    if (file.state == internal::FileState::corrupt)
      TRACE_WARN("a file of the compile cache is broken and will be written anew", kv("file", options.folder + "/" + name));
    if (file.state != internal::FileState::there) return nullptr;
    count(&Counts::disk_hits);
    TRACE_TRACE("Using second-line PTX cache");
    Kernel kernel = std::make_shared<CompiledKernel>(std::move(file.kernel));
    internal::record_result(internal::make_compile_span(request, "disk"), *kernel);
    return kernel;
  }

  Kernel make(std::string const& key, CompileRequest const& request) {
    std::string const name = key + ".kernel";
    if (!options.folder.empty())
      if (Kernel kernel = from_folder(name, request)) return kernel;
    Kernel kernel = compile(request, "miss");
    if (!options.folder.empty()) {
      std::string const failure = internal::write_kernel(options.folder, name, *kernel);
      if (!failure.empty()) TRACE_WARN("cannot write to the compile cache: {}", failure, kv("folder", options.folder));
    }
    return kernel;
  }
};

CompileCache::CompileCache(NvrtcApi const& nvrtc, CompileCacheOptions options)
    : state_(std::make_unique<State>(nvrtc, std::move(options))) {}
CompileCache::~CompileCache() = default;

Kernel CompileCache::get(CompileRequest const& request) {
  internal::CompileKey const key = internal::compile_key(state_->nvrtc, request);
  if (key.hex.empty()) {
    TRACE_DEBUG("not kept in the compile cache: {}", key.why_not);
    return state_->compile(request, "none");
  }
  if (Kernel kernel = state_->find_or_begin(key.hex)) {
    TRACE_TRACE("Using PTX cache");
    internal::record_result(internal::make_compile_span(request, "memory"), *kernel);
    return kernel;
  }
  Kernel kernel;
  try {
    kernel = state_->make(key.hex, request);
  } catch (...) {
    state_->end(key.hex, nullptr);
    throw;
  }
  state_->end(key.hex, kernel);
  return kernel;
}

void CompileCache::clear() {
  std::lock_guard const lock(state_->mutex);
  std::erase_if(state_->entries, [](auto const& entry) { return entry.second != nullptr; });
}

CompileCache::Counts CompileCache::counts() const {
  std::lock_guard const lock(state_->mutex);
  return state_->counts;
}

}  // namespace tracing::inline v1::cuda
