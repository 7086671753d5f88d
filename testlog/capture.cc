#include "testlog/capture.h"

#include <utility>

#include "testlog/unwound_path.h"
#include "tracing_core/collect/forwarding_layer.h"

namespace testlog::inline v1 {
namespace {

using tracing::Context;
using tracing::ForwardingLayer;
using tracing::SpanRef;

// Notes what the attribution of records and the report of exceptions need, and forwards everything to the ring.
class CaptureLayer final : public tracing::ForwardingLayer {
 public:
  CaptureLayer(std::unique_ptr<Layer> ring, Attribution& attribution)
      : ForwardingLayer(std::move(ring)), attribution_(attribution) {}

  tracing::Hooks hooks() const noexcept override {
    return ForwardingLayer::hooks() | tracing::Hooks::enter | tracing::Hooks::exit;
  }
  void on_new_span(SpanRef span, tracing::NewSpan const& made, Context const& context) noexcept override {
    attribution_.observe_span(span);
    observe_record();
    ForwardingLayer::on_new_span(span, made, context);
  }
  void on_event(tracing::Event const& event, Context const& context) noexcept override {
    attribution_.observe_event();
    observe_record();
    ForwardingLayer::on_event(event, context);
  }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    observe_enter();
    ForwardingLayer::on_enter(span, context);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    observe_exit(span);
    ForwardingLayer::on_exit(span, context);
  }

 private:
  Attribution& attribution_;
};

}  // namespace

Capture::Capture(Environment const& environment) {
  if (environment.capture_off) return;
  ring_ = tracing::RecordRing::make();
  if (environment.capture == "trace") return;  // no filter is the fastest
  owned_filter_ = std::make_unique<tracing::EnvFilter>(tracing::internal::filter_of(environment.capture));
  filter_ = owned_filter_.get();
}

std::unique_ptr<tracing::Layer> Capture::make_layer(Attribution& attribution) {
  if (ring_ == nullptr) return nullptr;
  return std::make_unique<CaptureLayer>(ring_->make_layer(), attribution);
}

void Capture::begin_test(TestTag tag) noexcept {
  if (ring_ == nullptr) return;
  ring_->set_tag(tag);
  first_record_of_test_ = ring_->next_number();
}

void Capture::end_test() noexcept {
  if (ring_ != nullptr) ring_->set_tag(0);
}

std::string Capture::why_incomplete() const {
  if (ring_ == nullptr) return "nothing is captured: TRACE_CAPTURE is off";
  std::uint64_t const lost = ring_->dropped_of(ring_->tag());
  if (lost == 0) return {};
  return "the ring was full and lost " + std::to_string(lost) + " records of this test";
}

}  // namespace testlog::inline v1
