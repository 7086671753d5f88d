// Declares Writer, which decides the sinks that a line goes to, and how writers are put together.
#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1 {

/// One line, or several that belong together, on the way to sinks. Valid during the call.
struct Line {
  Metadata const& metadata;  ///< of the event, or of the span that something happened to
  std::string_view text;     ///< with colours and line ends
  Instant time{};            ///< not known where the format prints no time
};

/// Decides which sinks a line goes to. Thread-safe. Never throws.
class Writer {
 public:
  Writer() = default;
  Writer(Writer const&) = delete;
  Writer& operator=(Writer const&) = delete;
  virtual ~Writer() = default;

  /// Whether lines about `metadata` go anywhere; asked before a line is made.
  virtual bool wants(Metadata const& metadata) const noexcept { return (void)metadata, true; }
  /// Passes a line on; what it does not want it leaves out.
  virtual void write(Line const& line) noexcept = 0;
  virtual void flush() noexcept {}
  /// The one sink to which every line goes; null where it is not that simple. Lets the print layer go there directly.
  virtual spdlog::sinks::sink* only_sink() const noexcept { return nullptr; }
};

using WriterPtr = std::shared_ptr<Writer>;
using SinkPtr = std::shared_ptr<spdlog::sinks::sink>;

/// Every line to one sink, ours or any of spdlog's. A sink of spdlog's gets the text without its last line end, as it adds
/// its own; set its pattern to "%v" to print nothing else. What it throws is caught and counted.
WriterPtr to_sink(SinkPtr sink);
/// Lines as important as `level` or more: `with_max_level(w, Level::warn)` passes warnings and errors.
WriterPtr with_max_level(WriterPtr writer, Level level);
/// Lines as verbose as `level` or more: `with_min_level(w, Level::debug)` passes debug and trace.
WriterPtr with_min_level(WriterPtr writer, Level level);
/// Lines to both.
WriterPtr tee(WriterPtr first, WriterPtr second);
/// Lines that `first` wants to it, all others to `second`.
WriterPtr or_else(WriterPtr first, WriterPtr second);

/// Lines for which `passes`, which is thread-safe and does not throw, says so.
WriterPtr with_filter(WriterPtr writer, std::function<bool(Metadata const& metadata)> passes);
/// Each line to the sink that `choose`, which is thread-safe and does not throw, returns for it; nowhere, or where or_else()
/// sends it, where that is null. Asked twice for a line; flushing the sinks is up to their owner.
WriterPtr make_writer(std::function<SinkPtr(Metadata const& metadata)> choose);

/// Lines given to spdlog sinks so far that threw.
std::uint64_t failed_sink_calls() noexcept;

}  // namespace tracing::inline v1
