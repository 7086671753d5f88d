#include "tracing_core/export/non_blocking.h"

#include "tracing_core/export/print/line_queue.h"

namespace tracing { inline namespace v1 {

void append_dropped_lines(TextBuffer& out, std::uint64_t count) noexcept {
  out.append("tracing: ");
  out.append_uint(count);
  out.append(count == 1 ? " line dropped" : " lines dropped");
  out.append(": the writing thread's queue was full\n");
}

WorkerGuard::WorkerGuard(std::shared_ptr<internal::LineQueue> const& queue)
    : queue_(queue.get(), [queue](internal::LineQueue* own) { own->finish(); }) {}

std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> NonBlockingSink::make(SinkPtr sink,
                                                                               NonBlockingOptions options) {
  if (sink == nullptr) return {};
  auto queue = internal::LineQueue::make(std::move(sink), std::move(options));
  WorkerGuard guard(queue);
  return {std::shared_ptr<NonBlockingSink>(new NonBlockingSink(std::move(queue))), std::move(guard)};
}

NonBlockingSink::NonBlockingSink(std::shared_ptr<internal::LineQueue> queue) noexcept : queue_(std::move(queue)) {}
NonBlockingSink::~NonBlockingSink() = default;

void NonBlockingSink::write(Level level, std::string_view text) noexcept { queue_->write(level, text); }
void NonBlockingSink::flush() noexcept { queue_->flush(); }
std::uint64_t NonBlockingSink::dropped() const noexcept { return queue_->dropped(); }

}}  // namespace tracing::v1
