// Perturbation: decides where threads wait, so that rare interleavings become frequent.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/collect/layer.h"
#include "tracing_core/model/metadata.h"

namespace testlog { inline namespace v1 {

/// The value of TRACE_PERTURB.
struct Perturbation {
  std::uint64_t seed = 0;
  std::uint32_t max_us = 200;  ///< the longest wait

  /// Parses `seed` or `seed,us`, two decimal numbers, `us` from 1 to 1000000. Returns nothing for any other text.
  static std::optional<Perturbation> parse(std::string_view text) noexcept;
  /// Returns the text that parse() reads: `seed,us`.
  std::string to_string() const;
};

/// Where a thread is at a callsite.
enum class Edge : std::uint8_t { enter, exit, event };

/// What a thread does at an edge.
struct Pause {
  bool yields = false;
  std::uint32_t us = 0;  ///< how long it sleeps; 0: not at all

  bool operator==(Pause const&) const = default;
};

/// Returns a number for a callsite that is the same in each run and in each build: made from its target, name, function
/// and message, not from addresses and lines.
std::uint64_t callsite_key(tracing::Metadata const& metadata) noexcept;

/// The decisions for one thread. They depend on the perturbation, on the number of the thread, and on how often the
/// thread has been at an edge. If all threads waited everywhere, their order would hardly change, so the seed chooses
/// for each thread and edge whether the thread never waits there, mostly yields or mostly sleeps. The more often a
/// thread has been at an edge, the more rarely it waits, so a loop with a million events takes little longer.
/// Single-thread.
class ThreadPauses {
 public:
  /// Returns the decision for the next visit of an edge.
  Pause next(Perturbation const& perturbation, std::uint64_t thread, std::uint64_t callsite, Edge edge) noexcept;

 private:
  std::array<std::uint32_t, 128> visits_{};  // by edge; edges with one remainder share a number
};

/// Makes the layer that lets each thread wait where it enters and exits spans and makes events. A thread is known by
/// the callsite of its first record, and by how many threads before it had their first record there.
std::unique_ptr<tracing::Layer> make_perturbing_layer(Perturbation const& perturbation);

}}  // namespace testlog::v1
