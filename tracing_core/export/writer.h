// Writer: decides which sinks receive a line; and functions that combine writers.
#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 {

/// A line, or several lines that belong together, on the way to sinks. Valid during the call.
struct Line {
  Metadata const& metadata;  ///< of the event or span
  std::string_view text;     ///< including colours and line ends
  Instant time{};            ///< zero if the format prints no time
};

/// Decides which sinks receive a line. Thread-safe. Never throws.
class Writer {
 public:
  Writer() = default;
  Writer(Writer const&) = delete;
  Writer& operator=(Writer const&) = delete;
  virtual ~Writer() = default;

  /// Returns true if any sink receives lines of `metadata`. Called before a line is made.
  virtual bool wants(Metadata const& metadata) const noexcept { return (void)metadata, true; }
  /// Passes a line to its sinks; ignores lines that it does not want.
  virtual void write(Line const& line) noexcept = 0;
  virtual void flush() noexcept {}
  /// Returns the sink that receives every line, or null if the sink depends on the line. Lets the print layer call the
  /// sink directly.
  virtual spdlog::sinks::sink* only_sink() const noexcept { return nullptr; }
};

using WriterPtr = std::shared_ptr<Writer>;
using SinkPtr = std::shared_ptr<spdlog::sinks::sink>;

/// Passes every line to one sink, a LineSink or a sink of spdlog. A sink of spdlog gets the text without its last line
/// end, since it adds a line end itself; set its pattern to "%v" to print nothing else. Exceptions are caught and
/// counted.
WriterPtr to_sink(SinkPtr sink);
/// Passes lines of `level` or more severe: `with_max_level(w, Level::warn)` passes warnings and errors.
WriterPtr with_max_level(WriterPtr writer, Level level);
/// Passes lines of `level` or more verbose: `with_min_level(w, Level::debug)` passes debug and trace.
WriterPtr with_min_level(WriterPtr writer, Level level);
/// Passes lines to both writers.
WriterPtr tee(WriterPtr first, WriterPtr second);
/// Passes lines to `first` if it wants them, all others to `second`.
WriterPtr or_else(WriterPtr first, WriterPtr second);

/// Passes lines for which `passes` returns true; it must be thread-safe and not throw.
WriterPtr with_filter(WriterPtr writer, std::function<bool(Metadata const& metadata)> passes);
/// Passes each line to the sink that `choose` returns for it. A line for which it returns null is dropped or, as the
/// first writer of or_else(), left to the second. `choose` must be thread-safe and not throw, and is called twice for
/// each line. The owner of the sinks flushes them.
WriterPtr make_writer(std::function<SinkPtr(Metadata const& metadata)> choose);

/// Returns how many calls of spdlog sinks have thrown so far.
std::uint64_t failed_sink_calls() noexcept;

}}  // namespace tracing::v1
