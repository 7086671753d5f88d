#include "testlog/capture.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "testlog/internal/throw_periods.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/format/span_path.h"

namespace testlog::inline v1 {
namespace {

using tracing::SpanRef;

// Which spans exceptions left on this thread, oldest first. Only the exception that is reported tells which of them it was:
// each exit begins a period of throwing, and the first one after its own period is where it was thrown.
struct Exit {
  std::uint64_t period;  // that began behind it
  std::string path;
};
struct Exits {
  static constexpr std::size_t kMost = 32;  // half of what periods are told apart for
  std::vector<Exit> list;
  Exits() = default;
  Exits(Exits const&) = delete;
  Exits& operator=(Exits const&) = delete;
  ~Exits() { gone = true; }

  static constinit thread_local bool gone;
};
constinit thread_local bool Exits::gone = false;
thread_local Exits exits;

// What every record looks at.
struct Unwinding {
  int of_destructors = 0;  // spans that were entered while an exception passed and are not left yet
  bool is_noted = false;   // there are such, or exits
};
constinit thread_local Unwinding unwinding;

void note_exit(SpanRef span) noexcept {
  unwinding.is_noted = true;
  if (Exits::gone || exits.list.size() == Exits::kMost) return;
  tracing::InlineTextBuffer<256> path;
  tracing::append_span_path(path, span);
  try {
    exits.list.push_back({0, std::string(path.view())});
    exits.list.back().period = internal::begin_throw_period();
  } catch (...) {  // then the report does not name it
  }
}

// What destructors record while an exception passes does not count, and neither does what its handler records, which may
// throw it again.
void still_alive() noexcept {
  if (unwinding.is_noted && std::uncaught_exceptions() == 0 && std::current_exception() == nullptr) [[unlikely]]
    forget_unwound();
}

class CaptureLayer final : public tracing::Layer {
 public:
  CaptureLayer(std::unique_ptr<Layer> ring, Attribution& attribution) : ring_(std::move(ring)), attribution_(attribution) {}

  tracing::Hooks hooks() const noexcept override { return ring_->hooks() | tracing::Hooks::exit; }
  void on_new_span(SpanRef span, tracing::NewSpan const& made, tracing::Context const& context) noexcept override {
    attribution_.observe_span(span);
    still_alive();
    ring_->on_new_span(span, made, context);
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    attribution_.observe_event();
    still_alive();
    ring_->on_event(event, context);
  }
  void on_exit(SpanRef span, tracing::Context const& context) noexcept override {
    if (std::uncaught_exceptions() == 0) [[likely]] {
      still_alive();
    } else if (unwinding.of_destructors > 0) {
      --unwinding.of_destructors;
    } else {
      note_exit(span);
    }
    ring_->on_exit(span, context);
  }
  void on_record(SpanRef span, tracing::FieldValues const& values, tracing::Context const& context) noexcept override {
    ring_->on_record(span, values, context);
  }
  void on_follows_from(SpanRef span, SpanRef cause, tracing::Context const& context) noexcept override {
    ring_->on_follows_from(span, cause, context);
  }
  void on_enter(SpanRef span, tracing::Context const& context) noexcept override {
    if (std::uncaught_exceptions() > 0) [[unlikely]] ++unwinding.of_destructors, unwinding.is_noted = true;
    ring_->on_enter(span, context);
  }
  void on_close(SpanRef span, tracing::Context const& context) noexcept override { ring_->on_close(span, context); }
  void flush() noexcept override { ring_->flush(); }

 private:
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

void forget_unwound() noexcept {
  unwinding = {};
  if (!Exits::gone) exits.list.clear();
}

std::string unwound_path() {
  if (Exits::gone) return {};
  std::uint64_t const thrown = internal::throw_period_of_handled();
  for (Exit const& exit : exits.list) {
    if (thrown < exit.period) return exit.path;
  }
  return {};
}

}  // namespace testlog::inline v1
