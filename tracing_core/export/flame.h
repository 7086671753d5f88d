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

namespace tracing::inline v1 {

/// What a FlameLayer writes.
struct FlameOptions {
  /// Also write a thread's time in no span: `ThreadId(1)-main 120`.
  bool empty_samples = true;
  /// `all-threads` instead of a root for each thread.
  bool threads_collapsed = false;
  /// `kernels::compile` instead of `compile`: with the span's namespace and class, or the target that replaces them.
  bool module_path = true;
  /// `compile:src/kernels.cc:12` instead of `compile`.
  bool file_and_line = false;
  /// Exactly as the crate tracing-flame: a `;` in a name stays, so it makes two frames of one; bytes that are not UTF-8
  /// stay too. Line ends are replaced all the same. Each line is written at once, so lines of different threads are in
  /// the order of time.
  bool as_tracing_flame = false;
  /// How many spans of a stack become frames, from the outside in. The time in deeper ones is that of a last frame
  /// `...`. A recursion of depth n writes 2n lines of up to n frames, so without a limit it may fill a disk. Without
  /// effect if `as_tracing_flame`.
  std::size_t max_frames = 1000;
  /// The lines of each thread that wait to be written together, in bytes. More takes memory and may be lost when a
  /// signal ends the process; 0 writes each line at once, which costs ten times as much as everything else.
  std::size_t buffered_bytes = 64 * 1024;
  /// The descriptor on which the first failed write to a path is reported; negative: nowhere.
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

  /// Returns when all earlier lines have been passed to the writer, and that is flushed. Thread-safe.
  void flush() noexcept;
  /// The number of lines that are missing because memory ran out or, in a file that was opened by its path, because a
  /// write failed. Thread-safe.
  std::uint64_t dropped_lines() const noexcept;

 private:
  std::shared_ptr<internal::FoldedLines> lines_;  // its deleter writes the waiting lines
};

/// Writes a line whenever a thread enters or leaves a span: the spans it was in until then, from the outside in, and
/// for how many nanoseconds: `ThreadId(1)-main;kernels::launch;kernels::compile 7130`. Time counts from the thread's
/// last line, at first from the creation of the layer. A span is listed after its parent, whichever spans the thread
/// entered in between. Events and fields are not written.
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

/// A layer that writes folded stacks to any writer, in blocks of complete lines of level info and target
/// `tracing::flame`, and its guard. The writer is called for one block at a time while threads that want to write wait,
/// so it must not wait for them. A null writer gives a null layer, which a RegistryBuilder ignores.
///
///     auto [layer, guard] = tracing::flame_layer("run.folded", error);
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(WriterPtr writer, FlameOptions const& options = {});
/// The same to a file, which is created if it does not exist and otherwise appended to; an incomplete last line is
/// ended. If the file cannot be opened, sets `error` and returns a null layer. Reports the first failed write on
/// standard error.
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options = {});

}  // namespace tracing::inline v1
