// perfetto_layer(): makes a layer, and a guard that writes the layer's records as a trace for ui.perfetto.dev.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tracing_core/collect/layer.h"

namespace tracing { inline namespace v1 {

namespace internal {
class RecordStore;
}

struct PerfettoOptions {
  /// The file. A relative path starts at the current folder of the call of perfetto_layer(). An old file, or a symbolic
  /// link, is replaced once the new file is whole; a device or a pipe is written to directly.
  std::string path = "trace.pftrace";
  /// Approximate limit of the memory for records, at least 256 KiB. At the limit, the oldest records are overwritten.
  /// Memory is used only as it is filled.
  std::size_t limit_bytes = std::size_t{256} << 20;
};

/// Writes the trace when it is destroyed. If the process ends before, the trace is lost; the file of record_layer()
/// survives that. Movable; otherwise single-thread.
class [[nodiscard]] PerfettoGuard {
 public:
  PerfettoGuard() noexcept;
  PerfettoGuard(PerfettoGuard&& other) noexcept;
  PerfettoGuard& operator=(PerfettoGuard&& other) noexcept;
  ~PerfettoGuard();

  /// Writes the trace of all records so far, in place of the trace written before. Returns why that failed, or an empty
  /// text. Other threads may record meanwhile. Does nothing in a forked child, or if the guard is empty.
  std::string write() const;
  /// Returns the number of records that are not in the trace because limit_bytes was too small for them.
  std::uint64_t overwritten() const noexcept;

 private:
  friend std::pair<std::unique_ptr<Layer>, PerfettoGuard> perfetto_layer(PerfettoOptions options);
  void finish() noexcept;

  std::string path_{};
  std::shared_ptr<internal::RecordStore> store_{};
  unsigned forks_when_made_ = 0;
};

/// Makes the layer and its guard:
///
///     auto [perfetto, guard] = tracing::perfetto_layer({.path = "run.pftrace"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(perfetto)).build());
///
/// A record costs as much as with record_layer(); the trace is made at the end. A registry can have only one of these
/// two layers. The guard prints to standard error if the file could not be written. Without memory for the records, the
/// layer is null and the guard is empty.
std::pair<std::unique_ptr<Layer>, PerfettoGuard> perfetto_layer(PerfettoOptions options = {});

}}  // namespace tracing::v1
