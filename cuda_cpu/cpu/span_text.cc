#include "cuda_cpu/cpu/span_text.h"

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/span_path.h"

namespace cuda_cpu::cpu {

std::string span_note(std::string_view verb) {
  tracing::Subscriber* const subscriber = tracing::current_subscriber();
  tracing::Registry* const registry = subscriber == nullptr ? nullptr : subscriber->as_registry();
  if (registry == nullptr) return {};
  // Leaves out the span of the call itself, such as mem_alloc.
  tracing::SpanRef of_user;
  registry->visit_current_spans(
      [](void* context, tracing::SpanRef span) {
        auto& found = *static_cast<tracing::SpanRef*>(context);
        if (!found && span.metadata().target() != "tracing::cuda") found = span;
      },
      &of_user);
  tracing::TextBuffer path;
  tracing::append_span_path(path, of_user);
  return path.empty() ? std::string() : std::string(verb).append(" in ").append(path.view());
}

}  // namespace cuda_cpu::cpu
