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
  constexpr explicit Callsite(Metadata const& metadata) noexcept : metadata_(&metadata), level_(metadata.level()) {}
  Callsite(Callsite const&) = delete;
  Callsite& operator=(Callsite const&) = delete;

  Metadata const& metadata() const noexcept { return *metadata_; }

  /// Who wants a record now; zero where nobody does. The first call registers the callsite.
  Verdict enabled() noexcept {
    if (!may_be_enabled()) [[likely]] return 0;
    std::uint64_t const answer = answer_.load(std::memory_order_acquire);
    return is_final(answer) ? static_cast<Verdict>(answer) : ask(answer);
  }

  /// enabled() in two steps, for code that stands often in a program: all but the first look is behind a call. False where
  /// nobody wants a record until something is set up anew.
  bool may_be_enabled() const noexcept { return state_.load(std::memory_order_relaxed) != kNever; }
  /// The second step: who wants a record now.
  Verdict look_closer() noexcept;

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

  // An answer is the layers that always want it, above them the undecided ones, and the highest bit where there are such: one
  // word, read at once. With all bits of the undecided set the subscriber is asked from the start.
  static constexpr std::uint64_t kUndecided = std::uint64_t{1} << 63;
  static constexpr Verdict kAskAnew = ~Verdict{0} >> 1;
  static constexpr bool is_final(std::uint64_t answer) noexcept { return (answer & kUndecided) == 0; }
  static constexpr std::uint64_t answer_of(Registration const& known) noexcept {
    if (known.interest == Interest::never) return 0;
    if (known.interest == Interest::always) return known.wanted;
    bool const clear = known.undecided != 0 && known.undecided < kAskAnew;
    return kUndecided | std::uint64_t{clear ? known.undecided : kAskAnew} << 32 | known.wanted;
  }
  Verdict ask(std::uint64_t answer) noexcept;
  [[gnu::noinline]] Verdict ask_anew() noexcept;

  Metadata const* metadata_;
  Callsite* next_ = nullptr;
  std::atomic<std::uint64_t> answer_{kUndecided | std::uint64_t{kAskAnew} << 32};
  std::atomic<std::uint8_t> state_{kUnregistered};
  Level level_;  // the metadata's, found with one load less
};

/// Calls `visit(context, metadata)` for every callsite reached so far, newest first. Nothing may be registered meanwhile
/// by `visit`; other threads wait.
void visit_callsites(void (*visit)(void* context, Metadata const& metadata), void* context);

}  // namespace tracing::inline v1
