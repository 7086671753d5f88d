// Callsite: a place in the source that emits records, with the cached answer of the subscribers about them.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 {

namespace internal {
class CallsiteRegistry;
}

/// Says whether a subscriber or filter wants the records of a callsite.
enum class Interest : std::uint8_t {
  never,      ///< wants no record until the next rebuild_interest()
  sometimes,  ///< must be queried each time
  always,     ///< wants every record, without a query
};

/// The layers that want a record, one bit each; zero if no layer does. The subscriber defines the meaning of the bits.
using LayerMask = std::uint32_t;

/// A subscriber's answer about a callsite, which is cached until the next rebuild_interest().
struct Registration {
  Interest interest = Interest::never;
  LayerMask wanted = 0;          ///< the layers that want every record
  LayerMask undecided = 0;       ///< the layers that must be queried each time
  bool by_thread_level = false;  ///< the thread level check alone decides about the undecided layers
};

/// A place in the source that emits records: constant data and a cached answer of the subscribers. It is never
/// destroyed, and the library that contains it is kept loaded. Thread-safe. A disabled callsite costs one load and one
/// branch.
class Callsite {
 public:
  constexpr explicit Callsite(Metadata const& metadata) noexcept : metadata_(&metadata), level_(metadata.level()) {}
  // Makes a callsite with an answer that never changes, because the callsite is never registered.
  constexpr Callsite(Metadata const& metadata, Interest interest) noexcept
      : metadata_(&metadata), state_(static_cast<std::uint8_t>(interest)), level_(metadata.level()) {}
  Callsite(Callsite const&) = delete;
  Callsite& operator=(Callsite const&) = delete;

  Metadata const& metadata() const noexcept { return *metadata_; }

  /// Returns the layers that want a record now; zero if no layer does. The first call registers the callsite.
  LayerMask enabled() noexcept {
    if (!may_be_enabled()) [[likely]]
      return 0;
    std::uint64_t const answer = answer_.load(std::memory_order_acquire);
    return is_final(answer) ? static_cast<LayerMask>(answer) : ask(answer);
  }

  /// Does the first step of enabled(), inline. Returns false if no record is wanted until the next rebuild_interest().
  bool may_be_enabled() const noexcept { return state_.load(std::memory_order_relaxed) != kNever; }
  /// Does the second step of enabled(), out of line: returns the layers that want a record now.
  LayerMask enabled_slow() noexcept;

  /// Returns the cached interest; `sometimes` if the callsite was not reached yet.
  Interest interest() const noexcept {
    std::uint8_t const state = state_.load(std::memory_order_relaxed);
    return state >= kUnregistered ? Interest::sometimes : static_cast<Interest>(state);
  }

 private:
  friend class internal::CallsiteRegistry;

  static constexpr std::uint8_t kNever = 0;
  static constexpr std::uint8_t kUnregistered = 3;   // smaller values are an Interest
  static constexpr std::uint8_t kByThreadLevel = 4;  // `sometimes`, decided by the thread level check

  // The cached answer in one word, which is read atomically. The low half has the layers that want every record, the
  // high half the undecided layers, and the highest bit is set if layers are undecided. If all undecided bits are set,
  // the subscriber decides.
  static constexpr std::uint64_t kUndecided = std::uint64_t{1} << 63;
  static constexpr LayerMask kQuerySubscriber = ~LayerMask{0} >> 1;
  static constexpr bool is_final(std::uint64_t answer) noexcept { return (answer & kUndecided) == 0; }
  static constexpr std::uint64_t answer_of(Registration const& known) noexcept {
    if (known.interest == Interest::never) return 0;
    if (known.interest == Interest::always) return known.wanted;
    bool const clear = known.undecided != 0 && known.undecided < kQuerySubscriber;
    return kUndecided | std::uint64_t{clear ? known.undecided : kQuerySubscriber} << 32 | known.wanted;
  }
  LayerMask ask(std::uint64_t answer) noexcept;
  LayerMask decide(std::uint64_t answer) noexcept;
  [[gnu::noinline]] LayerMask query_subscriber() noexcept;

  Metadata const* metadata_;
  Callsite* next_ = nullptr;      // next callsite in the registry's list
  Callsite* previous_ = nullptr;  // links back, so that a callsite made at run time is removed in constant time
  std::atomic<std::uint64_t> answer_{kUndecided | std::uint64_t{kQuerySubscriber} << 32};
  std::atomic<std::uint8_t> state_{kUnregistered};
  Level level_;  // the metadata's level, copied here to save a load
};

/// Calls `visit(context, metadata)` for every callsite reached so far, newest first. `visit` must not reach new
/// callsites; another thread that reaches a new callsite waits for the end of the call.
void visit_callsites(void (*visit)(void* context, Metadata const& metadata), void* context);

}}  // namespace tracing::v1
