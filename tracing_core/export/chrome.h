// chrome_layer(): a layer that writes spans and events as a Chrome trace, JSON for chrome://tracing, ui.perfetto.dev
// and speedscope.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/line_sink.h"

namespace tracing::inline v1 {

namespace internal {
class ChromeOutput;
struct ChromeProcess;
}  // namespace internal

/// How a span is written.
enum class ChromeStyle : std::uint8_t {
  /// `B` and `E` on each thread that enters and leaves it: shows what the threads were doing.
  threaded,
  /// `b` and `e` when it is created and closed, in the row and with the category of its root: shows how long things
  /// took.
  async,
};

/// The span or event of a record. Valid during the call.
struct ChromeSubject {
  Metadata const& metadata;
  SpanRef span{};                ///< empty for an event
  Event const* event = nullptr;  ///< null for a span
};

/// Appends a name or a category as plain text, which becomes a JSON string. Must be thread-safe and not throw.
using ChromeText = std::function<void(TextBuffer& out, ChromeSubject const& subject)>;

struct ChromeOptions;
class ChromeGuard;
namespace internal {
// The layer and its guard for the trace of another process, from its recording.
std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer_of(ChromeProcess process, ChromeOptions options);
// Adds the beginning (`phase` B) or the end (E) of a test, at a time that is past.
void add_test_slice(ChromeGuard const& guard, char phase, std::string_view name, Track const& track,
                    Instant time) noexcept;
// ChromeGuard::start_new() in a file that is open, whose descriptor it takes.
std::error_code start_new_in(ChromeGuard const& guard, int descriptor, std::string path) noexcept;
}  // namespace internal

/// What the layer writes and where.
struct ChromeOptions {
  /// The file, for its user alone; what has its name is replaced, but a pipe or device is written to. Empty: `trace-<microseconds since 1970>.json` in the working directory.
  std::string path{};
  /// Receives the text instead of a file, in blocks of complete records: an FdSink, make_sink(f).
  std::shared_ptr<LineSink> sink{};
  ChromeStyle style = ChromeStyle::threaded;
  /// The fields, with their types; at a span's end only those recorded after its beginning.
  bool include_args = true;
  bool include_locations = true;  ///< file and line, as the arguments `.file` and `.line`
  /// Null: a span's name; an event's message, or `event <file>:<line>` if it has none. A span must have the same name
  /// at its end as at its beginning, since viewers match the two by it.
  ChromeText name{};
  /// Null: the target. In the style async it is called for roots only; spans below have the same category.
  ChromeText category{};
  /// Each record is written at once by the thread that makes it, with a system call: nothing is missing if the process
  /// is killed. Otherwise a worker thread writes the records of all threads, every 10 ms or when 256 KiB are waiting,
  /// and at most the last 100 ms of each thread may be missing.
  bool write_through = false;
  /// Off: creates no file and writes nothing until ChromeGuard::start_new().
  bool started = true;
  /// The descriptor on which a file that cannot be created and the first failed write are reported; negative: nowhere.
  int error_fd = 2;
  /// Byte for byte as tracing-chrome 0.7: pid 1, threads counted from 0, values as text, locations beside `args`.
  bool as_tracing_chrome = false;
};

/// Completes the trace when it is destroyed: writes all waiting records, closes the list, so that the file is strict
/// JSON, and ends the worker thread. Later records are dropped. Keep it in main(): a process that ends without
/// destroying it loses the waiting records and leaves a list without its closing bracket, which viewers open.
/// Thread-safe, except for moving it.
class [[nodiscard]] ChromeGuard {
 public:
  ChromeGuard() noexcept = default;
  ChromeGuard(ChromeGuard&&) noexcept = default;
  ChromeGuard& operator=(ChromeGuard&&) noexcept = default;

  /// Writes all waiting records.
  void flush() const noexcept;
  /// Completes the trace and continues in a new file, named after the time if `path` is empty. Each record is in one of
  /// the two. If the file cannot be created, returns the error and continues in the current one. Times still count from
  /// the same moment.
  /// REQUIRES: `path` is not the current file.
  std::error_code start_new(std::string path = {}) const noexcept;
  /// The same, in a sink, which is not null.
  void start_new(std::shared_ptr<LineSink> sink) const noexcept;
  /// Completes the trace. Later records are dropped until start_new().
  void stop() const noexcept;

  /// Begins a slice in the row of the calling thread that is no span, such as a test, around the spans that the thread
  /// enters until it calls end_slice(). Its category is `test`.
  void begin_slice(std::string_view name) const noexcept;
  void end_slice(std::string_view name) const noexcept;

  /// Why the file could not be created; no error if it could.
  std::error_code error() const noexcept;
  /// The file; empty if the trace goes to a sink.
  std::string path() const;
  /// The number of records that are missing because a write failed or memory ran out.
  std::uint64_t dropped() const noexcept;
  /// Whether records wait to be written. Async-signal-safe, so that the handler of a fatal signal can wait for the
  /// worker.
  bool is_behind() const noexcept;

 private:
  friend std::pair<std::unique_ptr<Layer>, ChromeGuard> internal::chrome_layer_of(internal::ChromeProcess process,
                                                                                  ChromeOptions options);
  friend void internal::add_test_slice(ChromeGuard const& guard, char phase, std::string_view name, Track const& track,
                                       Instant time) noexcept;
  friend std::error_code internal::start_new_in(ChromeGuard const& guard, int descriptor, std::string path) noexcept;
  explicit ChromeGuard(std::shared_ptr<internal::ChromeOutput> const& output);

  std::shared_ptr<internal::ChromeOutput> output_;  // its deleter completes the trace
};

/// The layer and its guard:
///
///     auto [chrome, guard] = tracing::chrome_layer({.path = "trace.json"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(chrome)).build());
///
/// Never fails: a file that cannot be created is reported once on standard error, and by ChromeGuard::error(), and
/// nothing is written. Threads that record share no lock; they write only if more than 8 MiB are waiting or a record of
/// their own has waited for 100 ms. Memory: these 8 MiB, and 64 KiB for each thread. A forked child writes nothing,
/// since the file is the parent's.
std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options = {});

}  // namespace tracing::inline v1
