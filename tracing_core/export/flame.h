// Declares FlameLayer, which writes as folded stacks where threads spend their time: what flame graphs are drawn from.
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
  /// A thread's time in no span at all, too: `ThreadId(1)-main 120`.
  bool empty_samples = true;
  /// `all-threads` in place of each thread's own root.
  bool threads_collapsed = false;
  /// `kernels::compile` in place of `compile`: with the namespace and class of the span, or the target that it has
  /// instead.
  bool module_path = true;
  /// `compile:src/kernels.cc:12` in place of `compile`.
  bool file_and_line = false;
  /// As the crate tracing-flame writes them: a `;` in a name is left alone, so it makes two frames of one, and bytes
  /// that are no text as well. Line ends are replaced all the same.
  bool as_tracing_flame = false;
  /// Bytes of lines of each thread that wait to be written together. More takes memory and may be lost when a signal ends
  /// the process; 0 writes each line at once, which costs ten times as much as all else.
  std::size_t buffered_bytes = 64 * 1024;
  /// Where it is told that the file of a path cannot be written: a descriptor, or nowhere where that is negative.
  int complain_to = 2;
};

namespace internal {
class FoldedLines;
}

/// Has the lines written that still wait: when it is destroyed, and on flush(). Later lines are written at once. Keep
/// it in main(): a process that ends without destroying it, by a signal or by exit(), takes the waiting lines with it. No
/// thread enters or leaves a span while a line of its own has waited for 100 ms without having it written.
class [[nodiscard]] FlameGuard {
 public:
  FlameGuard() noexcept = default;
  explicit FlameGuard(std::shared_ptr<internal::FoldedLines> lines) noexcept : lines_(std::move(lines)) {}
  FlameGuard(FlameGuard&&) noexcept = default;
  FlameGuard& operator=(FlameGuard&& other) noexcept;
  ~FlameGuard();

  /// Returns when all lines so far have been given to the writer, and that is flushed. Thread-safe.
  void flush() noexcept;
  /// Lines for which there was no memory and, of a file that was opened by its path, no room: they are not there, wholly or
  /// from some byte on. Thread-safe.
  std::uint64_t dropped_lines() const noexcept;

 private:
  std::shared_ptr<internal::FoldedLines> lines_;
};

/// Writes a line whenever a thread enters or leaves a span: where the thread was until then, from the outside in, and
/// for how many nanoseconds: `ThreadId(1)-main;kernels::launch;kernels::compile 7130`. Time counts from the thread's
/// last line, at first from the making of the layer. A span stands below its parent, wherever the thread went in
/// between. Events and fields are not written.
///
/// Names keep their blanks; in them `;` becomes `:`, line ends and NUL a blank, and what is not UTF-8 U+FFFD. So files
/// of several threads, processes and runs may be concatenated, or written together: a block of lines is one write(2).
///
/// Costs a look at the processor's counter and a copy of the line; takes a lock only to write, and allocates nothing once
/// it has seen the deepest stack. Memory: a buffer and a stack for each thread that lives. In a forked child it writes
/// nothing: the file is the parent's, and a child that wants one makes a registry of its own. A writer that cannot write says
/// so itself; the program never ends by SIGXFSZ here.
class FlameLayer final : public Layer {
 public:
  /// For flame_layer().
  explicit FlameLayer(std::shared_ptr<internal::FoldedLines> lines) noexcept : lines_(std::move(lines)) {}
  ~FlameLayer() override;

  Hooks hooks() const noexcept override { return Hooks::enter | Hooks::exit; }
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void flush() noexcept override;

 private:
  std::shared_ptr<internal::FoldedLines> const lines_;
};

/// A layer that writes folded stacks to any writer, in blocks of whole lines of level info and target `tracing::flame`,
/// and the guard that has them written. The writer is called for one block at a time while threads that enter spans wait,
/// so it must not wait for them. Where it is null, so is the layer, which a RegistryBuilder leaves out.
///
///     auto [layer, guard] = tracing::flame_layer("run.folded", error);
///     tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(WriterPtr writer, FlameOptions const& options = {});
/// The same to a file, made where it is not there and else appended to, behind a line that somebody broke off. Where it
/// cannot be opened, `error` says why, and the layer is null. The first write that fails is told on standard error.
std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options = {});

}  // namespace tracing::inline v1
