#include "testlog/capture/capture.h"

#include <atomic>
#include <new>
#include <utility>

#include "testlog/capture/unwound_path.h"
#include "tracing_core/environment/profile_outputs.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/support/span_clock.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::Context;
using tracing::SpanRef;
using tracing::internal::RecordLayer;
using tracing::internal::RecordStore;
using tracing::internal::Region;

constinit std::atomic<Attribution*> attribution_of_threads{nullptr};

std::atomic<TestTag> const* const* tag_of_this_thread() noexcept {
  return attribution_of_threads.load(std::memory_order_relaxed)->tag_of_records();
}

// Passes each record to a RecordLayer. Before that, notes what the attribution and the report of exceptions need to
// know about it.
class CaptureLayer final : public tracing::Layer {
 public:
  CaptureLayer(std::shared_ptr<RecordStore> store, Attribution& attribution, tracing::LayerMask shown)
      : record_(std::move(store), shown), attribution_(attribution) {}

  tracing::Hooks hooks() const noexcept override { return record_.hooks(); }
  void on_new_span(SpanRef span, tracing::NewSpan const& made, Context const& context) noexcept override {
    attribution_.observe_span(span);
    observe_record();
    record_.on_new_span(span, made, context);
  }
  void on_event(tracing::Event const& event, Context const& context) noexcept override {
    attribution_.observe_event();
    observe_record();
    record_.on_event(event, context);
  }
  bool try_event(tracing::Track const& track, tracing::Metadata const& metadata, tracing::Value const* values,
                 tracing::LayerMask mask) noexcept override {
    observe_record();  // the attribution knows the thread since its first record, which takes the other path
    return record_.try_event(track, metadata, values, mask);
  }
  bool try_scope_begin(tracing::Track const& track, SpanRef span, tracing::Value const* values) noexcept override {
    if (is_unwinding()) [[unlikely]]
      return false;
    attribution_.observe_span(span);
    observe_record();
    return record_.try_scope_begin(track, span, values);
  }
  bool try_scope_end(tracing::Track const& track, SpanRef span) noexcept override {
    if (is_unwinding()) [[unlikely]]
      return false;
    observe_record();
    return record_.try_scope_end(track, span);
  }
  bool try_new_span(tracing::Track const& track, SpanRef span, tracing::NewSpan const& made) noexcept override {
    attribution_.observe_span(span);
    observe_record();
    return record_.try_new_span(track, span, made);
  }
  bool try_step(tracing::Track const& track, SpanRef span, Step step) noexcept override {
    if (step != Step::close && is_unwinding()) [[unlikely]]
      return false;
    if (step == Step::exit) observe_record();
    return record_.try_step(track, span, step);
  }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    observe_enter();
    record_.on_enter(span, context);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (is_unwinding() && leaves_by_exception(span)) [[unlikely]]
      return record_.on_exit_by_exception(span, context);
    observe_record();
    record_.on_exit(span, context);
  }
  void on_scope_begin(SpanRef span, Context const& context) noexcept override {
    attribution_.observe_span(span);
    observe_record();
    observe_enter();
    record_.on_scope_begin(span, context);
  }
  void on_scope_end(SpanRef span, Context const& context) noexcept override {
    if (is_unwinding() && leaves_by_exception(span)) [[unlikely]]
      return record_.on_scope_end_by_exception(span, context);
    observe_record();
    record_.on_scope_end(span, context);
  }
  void on_record(SpanRef span, tracing::FieldValues const& values, Context const& context) noexcept override {
    record_.on_record(span, values, context);
  }
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    record_.on_follows_from(span, cause, context);
  }
  void on_close(SpanRef span, Context const& context) noexcept override { record_.on_close(span, context); }
  void on_timed(SpanRef span, tracing::Timing const& timing, Context const& context) noexcept override {
    record_.on_timed(span, timing, context);
  }
  void on_dropped() noexcept override { record_.on_dropped(); }

 private:
  RecordLayer record_;
  Attribution& attribution_;
};

}  // namespace

Capture::Capture(Environment const& environment, std::unique_ptr<Region> file, Attribution& attribution)
    : is_off_(environment.capture_off), attribution_(attribution) {
  if (is_off_ && file == nullptr && !tracing::environment::ProfileOutputs::are_wanted(environment)) return;
  if (file == nullptr) file = Region::make_anonymous(environment.record_limit);
  if (file == nullptr) return;
  attribution_of_threads.store(&attribution, std::memory_order_release);
  store_ = std::make_shared<RecordStore>(std::move(file), attribution.running_tag(), tag_of_this_thread);
  if (environment.capture == "trace") return;  // no filter is the fastest
  owned_filter_ = std::make_unique<tracing::EnvFilter>(tracing::environment::filter_of(environment.capture));
  filter_ = owned_filter_.get();
}

std::unique_ptr<tracing::Layer> Capture::make_layer(tracing::LayerMask shown) {
  if (store_ == nullptr) return nullptr;
  return std::make_unique<CaptureLayer>(store_, attribution_, shown);
}

std::unique_ptr<tracing::recording::Recording> Capture::read(std::uint64_t from) const {
  return store() == nullptr ? nullptr : read_all(from);
}

std::unique_ptr<tracing::recording::Recording> Capture::read_all(std::uint64_t from) const {
  if (store_ == nullptr) return nullptr;
  try {
    return tracing::recording::read_region(store_->region(), from);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

// Waits until the clock advances, since several readings may be equal: so the place is later than every record so
// far.
std::uint64_t Capture::now() const noexcept {
  constexpr int kMaxReadings = 10'000;
  std::uint64_t const before = tracing::support::ticks_now();
  std::uint64_t after = before;
  for (int i = 0; i < kMaxReadings && after == before; ++i) after = tracing::support::ticks_now();
  return after;
}

bool Capture::is_overwritten(std::uint64_t place) const noexcept {
  if (store() == nullptr) return false;
  std::uint64_t const until = store_->region().header().overwritten_until.load(std::memory_order_relaxed);
  return until != 0 && until >= place;
}

std::string_view Capture::why_nothing() const noexcept {
  if (is_off_) return "TRACE_CAPTURE is off";
  return store_ == nullptr ? "there was no memory" : "";
}

std::string Capture::bound() const { return tracing::internal::what_bounds(store_->region().growth_error()); }

std::string Capture::why_incomplete() const {
  if (store() == nullptr) return "nothing is captured: " + std::string(why_nothing());
  std::uint64_t const lost = store_->region().lost_of(store_->tag());
  if (lost == 0) return {};
  return std::to_string(lost) + " records of this test were overwritten (" + bound() + ")";
}

}}  // namespace testlog::v1
