#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::compile"

#include "tracing_core/cuda/compile_cache.h"

#include <unordered_map>
#include <utility>

#include "tracing_core/cuda/compile/compile_internal.h"
#include "tracing_core/emit/for_callers.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda {

using tracing::support::MutexLock;
using Kernel = std::shared_ptr<CompiledKernel const>;

struct CompileCache::State {
  State(NvrtcApi const& api, CompileCacheOptions given) : nvrtc(api), options(std::move(given)) {}

  NvrtcApi const nvrtc;
  CompileCacheOptions const options;

  mutable tracing::support::Mutex mutex;
  tracing::support::CondVar done;
  std::unordered_map<std::string, Kernel> entries TRACING_GUARDED_BY(mutex);  // null: a thread is compiling it
  Counts counts TRACING_GUARDED_BY(mutex);

  // Returns the kernel, after waiting if another thread compiles it. If it returns null, this thread must compile the
  // kernel and call end().
  Kernel find_or_begin(std::string const& key) {
    MutexLock const lock(mutex);
    while (true) {
      auto const [entry, is_new] = entries.try_emplace(key);
      if (is_new) return nullptr;
      if (entry->second != nullptr) return entry->second;
      done.wait(mutex);
    }
  }

  // Ends a compilation. `kernel` is null if it failed; then the threads that waited for the kernel compile it
  // themselves.
  void end(std::string const& key, Kernel kernel) {
    {
      MutexLock const lock(mutex);
      if (kernel == nullptr)
        entries.erase(key);
      else
        entries[key] = std::move(kernel);
    }
    done.notify_all();
  }

  // Counts the use.
  internal::CacheUse use(std::uint64_t Counts::*which, char const* result) {
    MutexLock const lock(mutex);
    ++(counts.*which);
    return {result, counts.hits(), counts.misses};
  }

  Kernel compile(CompileRequest const& request, char const* result) {
    return std::make_shared<CompiledKernel>(internal::compile(nvrtc, request, use(&Counts::misses, result)));
  }

  Kernel make(std::string const& key, CompileRequest const& request) {
    if (options.folder.empty()) return compile(request, "miss");
    std::string const name = key + ".kernel";
    if (auto kept = internal::read_kernel(options.folder + "/" + name)) {
      internal::report_hit(request, *kept, use(&Counts::disk_hits, "disk"));
      return std::make_shared<CompiledKernel>(std::move(*kept));
    }
    Kernel kernel = compile(request, "miss");
    std::string const failure = internal::write_kernel(options.folder, name, *kernel);
    if (!failure.empty()) TRACE_WARN("could not write to the compile cache: {}", failure, kv("folder", options.folder));
    return kernel;
  }
};

CompileCache::CompileCache(NvrtcApi const& nvrtc, CompileCacheOptions options)
    : state_(std::make_unique<State>(nvrtc, std::move(options))) {}
CompileCache::~CompileCache() = default;

Kernel CompileCache::get(CompileRequest const& request, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  internal::CompileKey const key = internal::compile_key(state_->nvrtc, request);
  if (key.hex.empty()) {
    TRACE_DEBUG("not cached: {}", key.why_not);
    return state_->compile(request, "none");
  }
  if (Kernel kernel = state_->find_or_begin(key.hex)) {
    internal::report_hit(request, *kernel, state_->use(&Counts::memory_hits, "memory"));
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
  MutexLock const lock(state_->mutex);
  std::erase_if(state_->entries, [](auto const& entry) { return entry.second != nullptr; });
}

CompileCache::Counts CompileCache::counts() const {
  MutexLock const lock(state_->mutex);
  return state_->counts;
}

}}}  // namespace tracing::v1::cuda
