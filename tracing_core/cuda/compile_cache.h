// CompileCache: compiles each source once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing_core/cuda/compile.h"

namespace tracing { inline namespace v1 { namespace cuda {

struct CompileCacheOptions {
  /// Also keeps compiled kernels in this folder, one file each, for other processes. Created with the first file;
  /// nothing is ever removed from it. Without a path, kernels are kept in memory only.
  std::string folder{};
};

/// Caches the results of compile(). A result is reused if everything that it depends on is unchanged: source, name,
/// options, architecture, name expressions, headers in memory, NVRTC's version and file, and the content of each file
/// that may be included, also in branches that are not taken. If these files cannot be known, a request is compiled
/// each time: if a macro names an included file, an option reads or writes files (-include, -pch, -time), or an
/// environment variable adds options.
///
/// Grows with the number of different requests. Thread-safe: threads with the same request wait for one compilation.
class CompileCache {
 public:
  /// `nvrtc` is copied.
  explicit CompileCache(NvrtcApi const& nvrtc, CompileCacheOptions options = {});
  CompileCache(CompileCache const&) = delete;
  CompileCache& operator=(CompileCache const&) = delete;
  ~CompileCache();

  /// Returns the result of compile() for the request. Throws CompileError; failures are not cached.
  ///
  /// The span `compile` has the field `cache`: "memory", "disk", "miss", or "none" if the request cannot be cached.
  /// For a hit, the span has the event "Using PTX cache" or "Using second-line PTX cache" (the folder), level TRACE;
  /// for a miss, the events of compile(). The event of a hit, or "compiled", has the fields cache_hits and
  /// cache_misses: the counts() until then.
  ///
  /// Costs reading all files that the source includes.
  std::shared_ptr<CompiledKernel const> get(CompileRequest const& request, Caller caller = Caller::here());

  /// Removes all kernels from memory.
  void clear();

  struct Counts {
    std::uint64_t memory_hits = 0;  ///< including hits that waited for the compilation of another thread
    std::uint64_t disk_hits = 0;
    std::uint64_t misses = 0;  ///< compilations, including failures, and requests that cannot be cached

    std::uint64_t hits() const noexcept { return memory_hits + disk_hits; }
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}}}  // namespace tracing::v1::cuda
