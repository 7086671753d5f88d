// Declares Callsite, one place in the source that emits, and Interest, what is known of who wants it.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/model/metadata.h"

namespace tracing::inline v1 {

/// Whether a subscriber or filter wants what a callsite emits.
enum class Interest : std::uint8_t {
  never,      ///< nobody, until something is set up anew
  sometimes,  ///< ask each time
  always,     ///< without asking
};

/// Which layers want one record, a bit each; zero: nobody. Its meaning is the subscriber's own.
using Verdict = std::uint32_t;

/// What a subscriber knows of a callsite once and for all.
struct Registration {
  Interest interest = Interest::never;
  Verdict wanted = 0;     ///< the layers that want every record
  Verdict undecided = 0;  ///< the layers that have to be asked each time
  bool by_gate = false;   ///< those are decided by the level gate alone
};

/// One place in the source that emits: constant data plus a cached interest. Lives as long as the program (or the library
/// that holds it, which therefore stays loaded). Thread-safe. Off, it costs one load and one branch.
class Callsite {
 public:
  constexpr explicit Callsite(Metadata const& metadata) noexcept : metadata_(&metadata) {}
  Callsite(Callsite const&) = delete;
  Callsite& operator=(Callsite const&) = delete;

  Metadata const& metadata() const noexcept { return *metadata_; }

  /// Who wants a record now; zero where nobody does. The first call registers the callsite.
  Verdict enabled() noexcept {
    if (state_.load(std::memory_order_relaxed) == kNever) [[likely]] return 0;
    return ask();
  }

  /// The cached interest; `sometimes` where the callsite was not reached yet.
  Interest interest() const noexcept {
    std::uint8_t const state = state_.load(std::memory_order_relaxed);
    return state >= kUnregistered ? Interest::sometimes : static_cast<Interest>(state);
  }

 private:
  friend class CallsiteAccess;  // dispatch/callsite.cc

  static constexpr std::uint8_t kNever = 0;
  static constexpr std::uint8_t kUnregistered = 3;  // smaller: an Interest
  static constexpr std::uint8_t kByGate = 4;        // sometimes: decided by the level gate

  Verdict ask() noexcept;
  [[gnu::noinline]] Verdict ask_anew() noexcept;

  Metadata const* metadata_;
  Callsite* next_ = nullptr;
  std::atomic<std::uint64_t> answer_{0};  // of the last Registration: the undecided layers above the wanted ones, read at once
  std::atomic<std::uint8_t> state_{kUnregistered};
};

/// Calls `visit(context, metadata)` for every callsite reached so far, newest first. Nothing may be registered meanwhile
/// by `visit`; other threads wait.
void visit_callsites(void (*visit)(void* context, Metadata const& metadata), void* context);

}  // namespace tracing::inline v1
