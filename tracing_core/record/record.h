// record_layer(): a layer that keeps what happens in a file which survives the process, however that ends.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tracing_core/collect/layer.h"

namespace tracing { inline namespace v1 {

struct RecordOptions {
  /// The file, which must not exist yet, or be empty. Only the user may read it.
  std::string path{};
  /// About how much the file may grow; the oldest records are overwritten. At least 256 KiB.
  std::size_t limit_bytes = std::size_t{64} << 20;
};

/// The layer, to be added to one registry, or null and why the file cannot be written:
///
///     auto [layer, error] = tracing::record_layer({.path = "run.rec"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
///
/// `testlog show run.rec` prints it afterwards, or while the process runs, with any filter and in any format. A record
/// is in the file when the statement ends: nothing has to be flushed, and SIGKILL loses none. Threads that record wait
/// for nobody: an event costs about twice a reading of the processor's counter. At most one such layer in a registry;
/// if it is added before the layer that prints, a line has the time that `testlog show` prints. A forked child records
/// nothing, but may make a layer of its own, for another file.
std::pair<std::unique_ptr<Layer>, std::error_code> record_layer(RecordOptions const& options);

}}  // namespace tracing::v1
