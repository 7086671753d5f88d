#include "testlog/perturb/perturbation.h"

#include <sched.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "tracing_core/collect/own_track.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/mixed_bits.h"
#include "tracing_core/support/scoped_no_cancellation.h"

namespace testlog { inline namespace v1 {
namespace {

constexpr std::uint32_t kMaxUs = 1'000'000;
constexpr std::uint32_t kOftenVisited = 16;

// Returns a number each bit of which depends on each bit of both.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  return tracing::support::mixed_bits(a + 0x9E3779B97F4A7C15 * (b + 1));
}

template <class T>
bool read_number(std::string_view text, T& number) noexcept {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<Perturbation> Perturbation::parse(std::string_view text) noexcept {
  Perturbation result;
  std::size_t const comma = text.find(',');
  if (!read_number(text.substr(0, comma), result.seed)) return std::nullopt;
  if (comma == text.npos) return result;
  if (!read_number(text.substr(comma + 1), result.max_us)) return std::nullopt;
  if (result.max_us == 0 || result.max_us > kMaxUs) return std::nullopt;
  return result;
}

std::string Perturbation::to_string() const { return std::to_string(seed) + "," + std::to_string(max_us); }

std::uint64_t callsite_key(tracing::Metadata const& metadata) noexcept {
  auto const& parts = metadata.parts();
  std::size_t const size = std::size_t{parts.name_size} + parts.target_size + parts.function_size +
                           parts.module_path_size + parts.message_size;
  return tracing::internal::hash_of({parts.text, size});
}

Pause ThreadPauses::next(Perturbation const& perturbation, std::uint64_t thread, std::uint64_t callsite,
                         Edge edge) noexcept {
  std::uint64_t const place = mix(callsite, static_cast<std::uint64_t>(edge));
  std::uint32_t const visit = visits_[place % visits_.size()]++;
  std::uint64_t const habit = mix(mix(perturbation.seed, place), thread);
  bool const never_waits = habit % 2 == 0;
  if (never_waits) return {};
  std::uint64_t const now = mix(habit, visit);
  bool const is_rare = visit >= kOftenVisited && now / 4 % (visit / (kOftenVisited / 2)) != 0;
  if (now % 4 == 0 || is_rare) return {};
  if (habit / 2 % 8 == 0) return {.yields = true};
  return {.us = static_cast<std::uint32_t>(1 + mix(now, visit) % perturbation.max_us)};
}

namespace {

void wait(Pause pause) noexcept {
  if (pause == Pause{}) return;
  int const error = errno;
  if (pause.yields) {
    sched_yield();
  } else {
    tracing::support::ScopedNoCancellation const not_cancelled;
    timespec const time{.tv_sec = pause.us / 1'000'000, .tv_nsec = long{pause.us % 1'000'000} * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
  errno = error;
}

class PerturbingLayer final : public tracing::Layer {
 public:
  explicit PerturbingLayer(Perturbation const& perturbation) : perturbation_(perturbation) {}

  tracing::Hooks hooks() const noexcept override {
    return tracing::Hooks::enter | tracing::Hooks::exit | tracing::Hooks::event;
  }
  void on_enter(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    pass(span.metadata(), Edge::enter, context);
  }
  void on_exit(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    pass(span.metadata(), Edge::exit, context);
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    pass(event.metadata(), Edge::event, context);
  }

 private:
  struct ThreadState {
    std::uint64_t number = 0;  // 0: not known yet
    ThreadPauses pauses{};
  };

  void pass(tracing::Metadata const& metadata, Edge edge, tracing::Context const& context) noexcept {
    if (!tracing::internal::is_own_track(context.track()) || context.is_dated()) return;
    static constinit thread_local ThreadState state;
    std::uint64_t const callsite = callsite_key(metadata);
    if (state.number == 0) state.number = number_of_thread(callsite);
    wait(state.pauses.next(perturbation_, state.number, callsite, edge));
  }

  // Relaxed, since an order between threads here would hide races of the program from ThreadSanitizer.
  std::uint64_t number_of_thread(std::uint64_t first_callsite) noexcept {
    std::atomic<std::uint32_t>& threads = threads_[first_callsite % threads_.size()];
    return mix(first_callsite, threads.fetch_add(1, std::memory_order_relaxed)) | 1;
  }

  Perturbation const perturbation_;
  std::array<std::atomic<std::uint32_t>, 64> threads_{};  // by the callsite of their first record
};

}  // namespace

std::unique_ptr<tracing::Layer> make_perturbing_layer(Perturbation const& perturbation) {
  return std::make_unique<PerturbingLayer>(perturbation);
}

}}  // namespace testlog::v1
