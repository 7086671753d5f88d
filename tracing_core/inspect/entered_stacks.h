// EnteredStacks: which spans each track of a replayed recording is in, and how long it was in those that it leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

/// `Data` is what the caller keeps for each time that a track enters a span. Single-thread.
template <class Data>
class EnteredStacks {
 public:
  struct Entered {
    SpanId span;
    Data data;
    Instant begin;
    std::uint64_t children_ns = 0;
  };
  struct Left {
    Data data;
    std::uint64_t ns;
    std::uint64_t self_ns;  ///< without the time in spans that it entered inside
  };

  /// The spans that the track is in, outermost first. Valid until the next call.
  std::vector<Entered> const& of(Track const& track) { return stacks_[track.number]; }

  void enter(Track const& track, SpanId span, Instant time, Data data) {
    stacks_[track.number].push_back({span, std::move(data), time});
  }
  /// Spans may be left in any order. Empty if the track is not in the span.
  std::optional<Left> leave(Track const& track, SpanId span, Instant time) {
    std::vector<Entered>& stack = stacks_[track.number];
    auto const found = std::find_if(stack.rbegin(), stack.rend(), [span](Entered const& one) { return one.span == span; });
    if (found == stack.rend()) return std::nullopt;
    Entered const left = std::move(*found);
    bool const was_innermost = found == stack.rbegin();
    stack.erase(std::next(found).base());
    // Times of a damaged recording may be any, so their difference need not fit.
    std::uint64_t const ns =
        time < left.begin ? 0 : static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(left.begin.ns);
    if (was_innermost && !stack.empty()) stack.back().children_ns += ns;
    return Left{left.data, ns, ns - std::min(left.children_ns, ns)};
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Entered>> stacks_;  // by the track's number
};

}  // namespace tracing::inline v1::internal
