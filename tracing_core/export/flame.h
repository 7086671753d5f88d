// FlameLayer: a layer that writes where threads spend their time as folded stacks, from which flame graphs are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/export/writer.h"

namespace tracing { inline namespace v1 {

/// Options of flame_layer().
struct FlameOptions {
  /// Also write a thread's time outside of spans: `ThreadId(1)-main 120`.
  bool empty_samples = true;
  /// Write `all-threads` instead of a root for each thread.
  bool threads_collapsed = false;
  /// Write `kernels::compile` instead of `compile`: with the span's namespace and class, or the target that replaces
  /// them.
  bool module_path = true;
  /// Write `compile:src/kernels.cc:12` instead of `compile`.
  bool file_and_line = false;
  /// Write exactly what the crate tracing-flame writes: a `;` in a name stays, which makes two frames of one, and bytes
  /// that are not UTF-8 stay, too. Line ends are replaced even then. Each line is written at once, so lines of
  /// different threads are in the order of time.
  bool as_tracing_flame = false;
  /// The maximum number of spans of a stack that become frames, from the outside in. The time in deeper spans is given
  /// to a last frame `...`. A recursion of depth n writes 2n lines of up to n frames, so without a limit it may fill a
  /// disk. Has no effect if `as_tracing_flame`.
  std::size_t max_frames = 1000;
  /// Size of each thread's buffer for lines, in bytes. A full buffer is written at once. A larger buffer takes more
  /// memory, and more lines may be lost when a signal ends the process. 0 writes each line at once, which costs ten
  /// times as much as everything else.
  std::size_t buffered_bytes = 64 * 1024;
  /// On: append to an existing file, so that several processes or runs make one graph. Off: a new file replaces it, as
  /// with tracing-flame. Has no effect on writers.
  bool append = false;
  /// Descriptor for error reports: a path that cannot be opened, and the first failed write to the file. A negative
  /// number turns the reports off.
  int error_fd = 2;
};

namespace internal {
class FoldedLines;
}

/// Writes the waiting lines when it is destroyed, and on flush(). Later lines are written at once. Keep it in main(): a
/// process that ends without destroying it, by a signal or by exit(), loses the waiting lines. A thread that enters or
/// leaves a span writes its own lines when they have waited for 100 ms.
class [[nodiscard]] FlameGuard {
 public:
  FlameGuard() noexcept = default;
  explicit FlameGuard(std::shared_ptr<internal::FoldedLines> const& lines);
  FlameGuard(FlameGuard&&) noexcept = default;
  FlameGuard& operator=(FlameGuard&&) noexcept = default;

  /// Passes all waiting lines to the writer and flushes it. Thread-safe.
  void flush() noexcept;
  /// Returns the number of lines that are missing because memory ran out or, in a file that was opened by its path,
  /// because a write failed. Thread-safe.
  std::uint64_t dropped_lines() const noexcept;

 private:
  std::shared_ptr<internal::FoldedLines> lines_;  // its deleter writes the waiting lines
};

/// Writes a line whenever a thread enters or leaves a span: the spans that the thread was in until then, from the
/// outside in, and the nanoseconds that it spent there: `ThreadId(1)-main;kernels::launch;kernels::compile 7130`. Time
/// counts from the thread's last line, at first from the creation of the layer. A span is listed after its parent,
/// whichever spans the thread entered in between. Events and fields are not written.
///
/// Names keep their blanks. In names `;` becomes `:`, line ends and NUL become blanks, and bytes that are not UTF-8
/// become U+FFFD. A block of lines is one write(2), so several threads, processes and runs may write to one file, and
/// files may be concatenated.
///
/// Costs a read of the processor's counter and a copy of the line; takes a lock only to write, and allocates nothing
/// once it has seen the deepest stack. Memory: a buffer and a stack for each live thread. In a forked child it writes
/// nothing: the file is the parent's. To record the child, create a registry in it.
class FlameLayer final : public Layer {
 public:
  /// Use flame_layer() instead.
  explicit FlameLayer(std::shared_ptr<internal::FoldedLines> lines) noexcept : lines_(std::move(lines)) {}
  ~FlameLayer() override;

  Hooks hooks() const noexcept override { return Hooks::enter | Hooks::exit; }
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void flush() noexcept override;

 private:
  std::shared_ptr<internal::FoldedLines> const lines_;
};

/// Makes a layer that writes folded stacks to any writer, and its guard. The writer gets blocks of complete lines, with
/// the level info and the target `tracing::flame`. It is called for one block at a time, and other threads that have
/// lines to write wait meanwhile, so it must not wait for them. A null writer gives a null layer, which a
/// RegistryBuilder ignores.
///
///     auto [layer, guard] = tracing::flame_layer("run.folded");
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(WriterPtr writer, FlameOptions const& options = {});
/// Makes a layer that writes folded stacks to a file, and its guard. Replaces an existing file or, with
/// FlameOptions::append, appends to it, after it ends an incomplete last line. Writes to an existing pipe or device. If
/// the file cannot be opened, reports its path and the reason on `error_fd` and returns a null layer.
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path,
                                                               FlameOptions const& options = {});
/// Overload that sets `error`, too.
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options = {});

}}  // namespace tracing::v1
