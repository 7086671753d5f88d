#include "tracing_core/export/flame.h"

#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame_lines.h"

namespace tracing::inline v1 {

FlameLayer::~FlameLayer() { lines_->flush(); }
void FlameLayer::on_enter(SpanRef span, Context const& context) noexcept { lines_->enter(span, context); }
void FlameLayer::on_exit(SpanRef span, Context const& context) noexcept { lines_->exit(span, context); }
void FlameLayer::flush() noexcept { lines_->flush(); }

FlameGuard::FlameGuard(std::shared_ptr<internal::FoldedLines> const& lines)
    : lines_(lines.get(), [lines](internal::FoldedLines* own) { own->stop_buffering(); }) {}
void FlameGuard::flush() noexcept {
  if (lines_ != nullptr) lines_->flush();
}
std::uint64_t FlameGuard::dropped_lines() const noexcept { return lines_ == nullptr ? 0 : lines_->dropped(); }

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(WriterPtr writer, FlameOptions const& options) {
  if (writer == nullptr) return {};
  auto const lines = internal::FoldedLines::make(std::move(writer), options);
  return {std::make_unique<FlameLayer>(lines), FlameGuard(lines)};
}

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options) {
  auto file = FdSink::append_to(path, error, options.error_fd, internal::kEndOfBrokenStack);
  if (file == nullptr) return {};
  auto const lines = internal::FoldedLines::make(to_sink(file), options, file);
  return {std::make_unique<FlameLayer>(lines), FlameGuard(lines)};
}

}  // namespace tracing::inline v1
