// perfetto_layer(): a layer and a guard that writes what the layer recorded as a trace for ui.perfetto.dev.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tracing_core/collect/layer.h"

namespace tracing::inline v1 {

namespace internal {
class RecordStore;
}

struct PerfettoOptions {
  /// The file, below the folder that is current now; it is replaced when it is whole. A device, a pipe and what a symbolic link
  /// leads to are written to directly.
  std::string path = "trace.pftrace";
  /// How much memory the records may take, about; the oldest are overwritten. At least 256 KiB. Used only as it is filled.
  std::size_t limit_bytes = std::size_t{256} << 20;
};

/// Writes the trace when it is destroyed. If the process ends before, there is none: record_layer() survives that. Movable;
/// otherwise single-thread.
class [[nodiscard]] PerfettoGuard {
 public:
  PerfettoGuard() noexcept;
  PerfettoGuard(PerfettoGuard&& other) noexcept;
  PerfettoGuard& operator=(PerfettoGuard&& other) noexcept;
  ~PerfettoGuard();

  /// Writes the trace of all records so far, in place of the one before. Returns a sentence, or nothing. Other threads may
  /// record meanwhile. Does nothing in a forked child, or without memory for the records.
  std::string write() const;
  /// Records that are not in the trace, since limit_bytes was too small for them.
  std::uint64_t overwritten() const noexcept;

 private:
  friend std::pair<std::unique_ptr<Layer>, PerfettoGuard> perfetto_layer(PerfettoOptions options);
  void finish() noexcept;

  std::string path_{};
  std::shared_ptr<internal::RecordStore> store_{};
  unsigned forks_when_made_ = 0;
};

/// The layer and its guard:
///
///     auto [perfetto, guard] = tracing::perfetto_layer({.path = "run.pftrace"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(perfetto)).build());
///
/// A record costs what it costs record_layer(); the trace is made at the end. One of the two at most in a registry. The guard
/// prints to standard error if the file could not be written. Null and an empty guard if there is no memory.
std::pair<std::unique_ptr<Layer>, PerfettoGuard> perfetto_layer(PerfettoOptions options = {});

}  // namespace tracing::inline v1
