// A span as a handle: entered on several threads, given values later, closed when its last handle is destroyed.
#include <chrono>
#include <thread>
#include <utility>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/tracing.h>

#include "collect.h"

namespace server {

void handle(int id) {
  tracing::Span const request = TRACE_MAKE_SPAN(info, "request", id, tracing::kv("status", tracing::empty));
  {
    auto const inside = request.enter();  // until the end of this block
    TRACE_INFO("accepted");
    examples::work_for(std::chrono::milliseconds(1));

    // Another thread works inside the current span of this one.
    std::thread([work = tracing::with_current_span([] { TRACE_INFO("working"); })]() mutable {
      tracing::set_thread_name("worker");  // before anything else on the thread
      work();
    }).join();
    examples::work_for(std::chrono::milliseconds(1));
  }
  request.record(tracing::kv("status", 200));  // a value that was not known at first
  request.in_scope([] { TRACE_INFO("answered"); });
}

void causes() {
  tracing::Span const first = TRACE_MAKE_SPAN(info, "produce");
  tracing::Span const second = TRACE_MAKE_SPAN(info, "consume", tracing::parent(nullptr));
  second.follows_from(first);  // related, but not inside it
  TRACE_INFO("below an explicit parent", tracing::parent(second));

  tracing::Span const none = tracing::Span::none();
  auto const inside = second.enter();
  none.or_current().in_scope([] { TRACE_INFO("in the current span"); });
}

}  // namespace server

int main(int argc, char** argv) {
  auto [chrome, chrome_guard] = examples::trace_if_asked(argc, argv);
  auto const tracing_guard =
      examples::init({.threads = tracing::ThreadLabels::on}, tracing::RegistryBuilder().with(std::move(chrome)));
  server::handle(1);
  server::causes();
}
