#include "testlog/capture.h"

#include <exception>
#include <memory>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/span_path.h"

namespace testlog::inline v1 {
namespace {

using tracing::SpanRef;

// The text of the first span that the exception left; the spans around it stand in its path.
struct Unwound {
  bool unwinding = false;
  int of_destructors = 0;  // spans that were opened while an exception passed and are not left yet
  tracing::InlineTextBuffer<256> path;
};
thread_local Unwound unwound;

class CaptureLayer final : public tracing::Layer {
 public:
  CaptureLayer(std::unique_ptr<Layer> ring, Attribution& attribution) : ring_(std::move(ring)), attribution_(attribution) {}

  tracing::Hooks hooks() const noexcept override { return ring_->hooks() | tracing::Hooks::exit; }
  void on_new_span(SpanRef span, tracing::NewSpan const& made, tracing::Context const& context) noexcept override {
    attribution_.observe_span(span);
    still_alive();
    if (std::uncaught_exceptions() > 0) [[unlikely]] ++unwound.of_destructors;
    ring_->on_new_span(span, made, context);
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    attribution_.observe_event();
    still_alive();
    ring_->on_event(event, context);
  }
  void on_exit(SpanRef span, tracing::Context const& context) noexcept override {
    if (std::uncaught_exceptions() == 0) [[likely]] {
      forget_unwound();
    } else if (unwound.of_destructors > 0) {
      --unwound.of_destructors;
    } else if (!unwound.unwinding) {
      unwound.unwinding = true;
      unwound.path.clear();
      tracing::append_span_path(unwound.path, span);
    }
    ring_->on_exit(span, context);
  }
  void on_record(SpanRef span, tracing::FieldValues const& values, tracing::Context const& context) noexcept override {
    ring_->on_record(span, values, context);
  }
  void on_follows_from(SpanRef span, SpanRef cause, tracing::Context const& context) noexcept override {
    ring_->on_follows_from(span, cause, context);
  }
  void on_enter(SpanRef span, tracing::Context const& context) noexcept override { ring_->on_enter(span, context); }
  void on_close(SpanRef span, tracing::Context const& context) noexcept override { ring_->on_close(span, context); }
  void flush() noexcept override { ring_->flush(); }

 private:
  // What destructors record while an exception passes does not count.
  static void still_alive() noexcept {
    if (unwound.unwinding && std::uncaught_exceptions() == 0) unwound.unwinding = false;
  }

  std::unique_ptr<Layer> ring_;
  Attribution& attribution_;
};

}  // namespace

std::unique_ptr<tracing::Layer> capture_layer(std::unique_ptr<tracing::Layer> ring, Attribution& attribution) {
  return std::make_unique<CaptureLayer>(std::move(ring), attribution);
}

void append_current_path(tracing::TextBuffer& out, tracing::Registry const& registry) noexcept {
  SpanRef innermost;
  registry.visit_current_spans(
      [](void* context, SpanRef span) {
        auto& found = *static_cast<SpanRef*>(context);
        if (!found) found = span;
      },
      &innermost);
  tracing::append_span_path(out, innermost);
}

void forget_unwound() noexcept { unwound.unwinding = false, unwound.of_destructors = 0; }

std::string_view unwound_path() noexcept { return unwound.unwinding ? unwound.path.view() : std::string_view(); }

}  // namespace testlog::inline v1
