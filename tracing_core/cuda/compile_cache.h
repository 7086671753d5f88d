// Declares CompileCache, which compiles a source once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda {

struct CompileCacheOptions {
  /// Also keeps what was compiled in this folder, one file each, for later processes and those beside this one; made when the
  /// first file is. Nothing is ever removed from it. Empty: in memory only.
  std::string folder{};
};

/// Keeps what compile() gives. A request is known again where nothing has changed on which the result depends: source, name,
/// options, architecture, name expressions, headers in memory, NVRTC's version, and the content of each file that it may
/// include, those of branches that are not taken as well. It is compiled each time where that cannot be known: where a macro
/// names an included file, or options read or write files (-pch, -time ...).
///
/// Grows with the number of different requests. Thread-safe: threads that ask for the same wait for one compilation.
class CompileCache {
 public:
  /// `nvrtc` is copied.
  explicit CompileCache(NvrtcApi const& nvrtc, CompileCacheOptions options = {});
  CompileCache(CompileCache const&) = delete;
  CompileCache& operator=(CompileCache const&) = delete;
  ~CompileCache();

  /// What compile() gives for the request. Throws CompileError; failures are not kept.
  ///
  /// An event, level TRACE, says where it comes from: "Using PTX cache", "Using second-line PTX cache" (the folder) or
  /// "Compiling kernel". Behind it stands the span `compile` with the field `cache`: "memory", "disk", "miss", or "none" where
  /// the request has no place in it. A file that is broken is told, level WARN, and written anew.
  ///
  /// Costs the reading of all that the source includes.
  std::shared_ptr<CompiledKernel const> get(CompileRequest const& request);

  /// Forgets what is in memory.
  void clear();

  struct Counts {
    std::uint64_t memory_hits = 0;  ///< with those that waited for another's compilation
    std::uint64_t disk_hits = 0;
    std::uint64_t compiled = 0;     ///< or tried to
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tracing::inline v1::cuda
