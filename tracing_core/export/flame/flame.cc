#include "tracing_core/export/flame.h"

#include <fcntl.h>

#include <cerrno>

#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame/flame_lines.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 {

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

namespace {

std::shared_ptr<FdSink> open_stacks(std::string const& path, std::error_code& error, FlameOptions const& options) {
  if (options.append) return FdSink::append_to(path, error, options.error_fd, internal::kEndOfBrokenStack);
  int const descriptor = support::open_new_file(path.c_str(), O_WRONLY | O_APPEND);
  if (descriptor < 0) {
    error.assign(errno, std::generic_category());
    return nullptr;
  }
  error.clear();
  return std::make_shared<FdSink>(descriptor, path, options.error_fd, internal::kEndOfBrokenStack);
}

}  // namespace

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, std::error_code& error,
                                                               FlameOptions const& options) {
  auto file = open_stacks(path, error, options);
  if (file == nullptr) {
    if (options.error_fd >= 0) {
      internal::write_once(options.error_fd, "tracing: cannot open " + path + ": " + error.message() +
                                                 "; no folded stacks are written\n");
    }
    return {};
  }
  auto const lines = internal::FoldedLines::make(to_sink(file), options, file);
  return {std::make_unique<FlameLayer>(lines), FlameGuard(lines)};
}

std::pair<std::unique_ptr<FlameLayer>, FlameGuard> flame_layer(std::string const& path, FlameOptions const& options) {
  std::error_code error;
  return flame_layer(path, error, options);
}

}}  // namespace tracing::v1
