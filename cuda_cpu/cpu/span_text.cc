#include "cuda_cpu/cpu/span_text.h"

#include "cuda_cpu/cpu/device.h"

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/span_path.h"
#include "tracing_core/inspect/device_calls.h"

namespace cuda_cpu::cpu {

namespace {

// Returns " in load{layer=3}"; empty without a span.
std::string span_of_user() {
  tracing::Subscriber* const subscriber = tracing::current_subscriber();
  tracing::Registry* const registry = subscriber == nullptr ? nullptr : subscriber->as_registry();
  if (registry == nullptr) return {};
  // Leaves out the span of the call itself, such as mem_alloc.
  tracing::SpanRef of_user;
  registry->visit_current_spans(
      [](void* context, tracing::SpanRef span) {
        auto& found = *static_cast<tracing::SpanRef*>(context);
        if (!found && !tracing::internal::is_of_cuda(span.metadata())) found = span;
      },
      &of_user);
  tracing::TextBuffer path;
  tracing::append_span_path(path, of_user);
  return path.empty() ? std::string() : std::string(" in ").append(path.view());
}

}  // namespace

MemoryNote span_note(std::string_view verb) {
  CallSite const site = this_call();
  std::string span = span_of_user();
  return site.empty() && span.empty() ? MemoryNote() : MemoryNote(std::string(verb), site, std::move(span));
}

}  // namespace cuda_cpu::cpu
