// Declares ChromeLayer, which writes spans and events as a Chrome trace: JSON for chrome://tracing, ui.perfetto.dev,
// speedscope.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/line_sink.h"

namespace tracing::inline v1 {

namespace internal {
class ChromeOutput;
}

/// What stands for a span in the trace.
enum class ChromeStyle : std::uint8_t {
  threaded,  ///< `B` and `E` on each thread that enters and leaves it: what the threads were doing
  async,     ///< `b` and `e` where it is made and closed, on one line with the root above it, by whose category viewers know
             ///< the line: how long things took
};

/// The span or event that a record is about. Valid during the call.
struct ChromeSubject {
  Metadata const& metadata;
  SpanRef span{};                ///< empty for an event
  Event const* event = nullptr;  ///< null for a span
};

/// Appends a name or a category, as plain text; it becomes a JSON string. Thread-safe, does not throw.
using ChromeText = std::function<void(TextBuffer& out, ChromeSubject const& subject)>;

/// What a ChromeLayer writes and where.
struct ChromeOptions {
  /// The file, made anew. Empty: `trace-<microseconds since 1970>.json` in the working directory.
  std::string path{};
  /// Where the text goes instead of a file, in blocks of whole records: an FdSink, make_sink(f).
  std::shared_ptr<LineSink> sink{};
  ChromeStyle style = ChromeStyle::threaded;
  bool include_args = true;       ///< the fields, with their types; of an end only what was recorded after the beginning
  bool include_locations = true;  ///< file and line, as the arguments `.file` and `.line`
  /// Null: a span's name; of an event its message, or where it has none `event <file>:<line>`. A span's should be the same at
  /// its end as at its beginning, or viewers do not find the two together.
  ChromeText name{};
  ChromeText category{};  ///< null: the target; in the style async only a root is asked for, and all below it have the same
  /// Each record is written at once by the thread that makes it, with a system call: nothing is missing where the process is
  /// killed. Otherwise a thread of the trace's own writes what all others have recorded, every 10 ms or when 256 KiB are
  /// together, and at most the last 100 ms of each thread are missing.
  bool write_through = false;
  /// Off: nothing is written, and no file made, until ChromeGuard::start_new().
  bool started = true;
  /// The descriptor on which a file that cannot be made, and the first write that fails, are told; negative: nowhere.
  int complain_to = 2;
  /// Byte for byte what tracing-chrome 0.7 writes: pid 1, threads counted from 0, values as text, locations beside `args`.
  bool as_tracing_chrome = false;
};

/// Has the trace completed: when it is destroyed, what waits is written, the list closed, so that the file is strict JSON, and
/// the thread that writes has ended. What comes later is left out. Keep it in main(): a process that ends without destroying
/// it leaves `[` and whole records without the closing bracket, which the viewers open, and what waited is missing.
/// Thread-safe but for moving it.
class [[nodiscard]] ChromeGuard {
 public:
  ChromeGuard() noexcept = default;
  ChromeGuard(ChromeGuard&&) noexcept = default;
  ChromeGuard& operator=(ChromeGuard&& other) noexcept;
  ~ChromeGuard();

  /// Writes what waits.
  void flush() const noexcept;
  /// Completes the trace and begins another one: in a file, made anew, under a name made of the time where `path` is empty.
  /// What threads record meanwhile is in one of the two. Where it cannot be made, says why and goes on with the one that there
  /// is. Times still count from the same moment.
  /// REQUIRES: it is not the present file.
  std::error_code start_new(std::string path = {}) const noexcept;
  /// The same, in a sink, which is not null.
  void start_new(std::shared_ptr<LineSink> sink) const noexcept;
  /// Completes the trace. What comes is left out until start_new().
  void stop() const noexcept;

  /// Why there is no file to write to; no error where there is one.
  std::error_code error() const noexcept;
  /// The file; empty where the trace goes to a sink.
  std::string path() const;
  /// Records that are not in the trace because the file could not be written or memory ran out.
  std::uint64_t dropped() const noexcept;
  /// Whether records wait to be written. Async-signal-safe: the handler of a fatal signal may give the thread a moment.
  bool is_behind() const noexcept;

 private:
  friend std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options);
  explicit ChromeGuard(std::shared_ptr<internal::ChromeOutput> output) noexcept;
  void close() noexcept;

  std::shared_ptr<internal::ChromeOutput> output_;
};

/// The layer and its guard:
///
///     auto [chrome, guard] = tracing::chrome_layer({.path = "trace.json"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(chrome)).build());
///
/// Never fails: where the file cannot be made this is told once, on standard error, and by ChromeGuard::error(), and nothing
/// is written. Threads that record share no lock; they write only where more than 8 MiB wait or something of theirs has waited
/// for 100 ms. Memory: that, and 64 KiB for each thread. In a forked child nothing is written, because the file is the
/// parent's.
std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options = {});

}  // namespace tracing::inline v1
