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

namespace tracing { inline namespace v1 {

namespace internal {
class ChromeOutput;
struct ChromeProcess;
}  // namespace internal

/// Selects the records that a span is written as.
enum class ChromeStyle : std::uint8_t {
  /// `B` when a thread enters it and `E` when the thread leaves it: shows what the threads were doing.
  threaded,
  /// `b` when it is created and `e` when it is closed: shows how long things took. The span has the category of its
  /// root, and the row of its parent unless another child of the parent is open there.
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
// Makes the layer and its guard for the trace of any process, such as the process that made a recording.
std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer_of(ChromeProcess process, ChromeOptions options);
// Adds the beginning (`phase` B) or the end (E) of a test, at a past time.
void add_test_slice(ChromeGuard const& guard, char phase, std::string_view name, Track const& track,
                    Instant time) noexcept;
// Does what ChromeGuard::start_new() does, in a file that is already open. Takes ownership of `descriptor`.
std::error_code start_new_in(ChromeGuard const& guard, int descriptor, std::string path) noexcept;
}  // namespace internal

/// Options of chrome_layer().
struct ChromeOptions {
  /// Path of the file, which only its user may read. Replaces an existing file; writes to an existing pipe or device.
  /// Empty: `trace-<microseconds since 1970>.json` in the working directory.
  std::string path{};
  /// Receives the text instead of a file, in blocks of complete records: an FdSink, make_sink(f).
  std::shared_ptr<LineSink> sink{};
  ChromeStyle style = ChromeStyle::threaded;
  /// Write the fields, with their types. A span's end gets only the fields recorded after its beginning.
  bool include_args = true;
  bool include_locations = true;  ///< write file and line, as the arguments `.file` and `.line`
  /// Makes the names of records. Null: a span's name, and an event's message or, without a message,
  /// `event <file>:<line>`. A span must have the same name at its end as at its beginning, since viewers match the two
  /// by name.
  ChromeText name{};
  /// Makes the categories of records. Null: the target. With ChromeStyle::async it is called for roots only; the spans
  /// below a root get its category.
  ChromeText category{};
  /// On: a thread writes each record at once, by a system call, so nothing is missing if the process is killed. Off: a
  /// worker thread writes the records of all threads, every 10 ms or when 256 KiB are waiting; if the process is
  /// killed, at most the last 100 ms of each thread are missing.
  bool write_through = false;
  /// Off: creates no file and writes nothing until ChromeGuard::start_new().
  bool started = true;
  /// Descriptor for error reports: a file that cannot be created, and the first failed write. Negative: no reports.
  int error_fd = 2;
  /// Write byte for byte what tracing-chrome 0.7 writes: pid 1, threads counted from 0, values as text, locations
  /// beside `args`.
  bool as_tracing_chrome = false;
};

/// Completes the trace when it is destroyed: writes all waiting records, closes the list, so that the file is strict
/// JSON, and ends the worker thread. Later records are dropped. Keep it in main(): a process that ends without
/// destroying it loses the waiting records and leaves a list without its closing bracket, which viewers can still open.
/// Thread-safe, except for moving it.
class [[nodiscard]] ChromeGuard {
 public:
  ChromeGuard() noexcept = default;
  ChromeGuard(ChromeGuard&&) noexcept = default;
  ChromeGuard& operator=(ChromeGuard&&) noexcept = default;

  /// Writes all waiting records.
  void flush() const noexcept;
  /// Completes the trace and continues in a new file, named after the time if `path` is empty. Each record is in
  /// exactly one of the two files. If the file cannot be created, returns the error and continues in the current file.
  /// Times in the new file count from the same moment as before. REQUIRES: `path` is not the current file.
  std::error_code start_new(std::string path = {}) const noexcept;
  /// Completes the trace and continues in a sink.
  /// REQUIRES: `sink` is not null.
  void start_new(std::shared_ptr<LineSink> sink) const noexcept;
  /// Completes the trace. Later records are dropped until start_new().
  void stop() const noexcept;

  /// Opens a slice, for example a test, in the row of the calling thread. It encloses the spans that the thread enters
  /// until it calls end_slice(). Its category is `test`.
  void begin_slice(std::string_view name) const noexcept;
  void end_slice(std::string_view name) const noexcept;

  /// Returns why the file could not be created, or no error if it was created.
  std::error_code error() const noexcept;
  /// Returns the path of the file; empty if the trace goes to a sink.
  std::string path() const;
  /// Returns the number of records that are missing because a write failed or memory ran out.
  std::uint64_t dropped() const noexcept;
  /// Returns true while records wait to be written. Async-signal-safe, so that the handler of a fatal signal can wait
  /// for the worker.
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

/// Makes the layer and its guard:
///
///     auto [chrome, guard] = tracing::chrome_layer({.path = "trace.json"});
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(chrome)).build());
///
/// Never fails: a file that cannot be created is reported once on standard error, and by ChromeGuard::error(), and
/// nothing is written. Threads that record share no lock; they write only if more than 8 MiB are waiting or a record of
/// their own has waited for 100 ms. Memory: these 8 MiB, and 64 KiB for each thread. A forked child writes nothing,
/// since the file is the parent's.
std::pair<std::unique_ptr<Layer>, ChromeGuard> chrome_layer(ChromeOptions options = {});

}}  // namespace tracing::v1
