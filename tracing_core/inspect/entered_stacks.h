// EnteredStacks: keeps which spans each track of a replayed recording is in, and measures how long it was in a span.
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

namespace tracing { inline namespace v1 { namespace recording {

/// Keeps a stack of spans for each track, and with each span a `Data` of the caller. Single-thread.
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
    std::uint64_t self_ns;  ///< without the time in spans that the track entered inside of this one
  };

  /// Returns the spans that the track is in, outermost first. Valid until the next call.
  std::vector<Entered> const& of(Track const& track) { return stacks_[track.number]; }

  void enter(Track const& track, SpanId span, Instant time, Data data) {
    stacks_[track.number].push_back({span, std::move(data), time});
  }
  /// Removes a span from the track's stack; spans may be left in any order. Returns nothing if the track is not in the
  /// span.
  std::optional<Left> leave(Track const& track, SpanId span, Instant time) {
    std::vector<Entered>& stack = stacks_[track.number];
    auto const found =
        std::find_if(stack.rbegin(), stack.rend(), [span](Entered const& one) { return one.span == span; });
    if (found == stack.rend()) return std::nullopt;
    Entered const left = std::move(*found);
    bool const was_innermost = found == stack.rbegin();
    stack.erase(std::next(found).base());
    // A damaged recording may have any times, whose difference need not fit into a signed number.
    std::uint64_t const ns =
        time < left.begin ? 0 : static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(left.begin.ns);
    if (was_innermost && !stack.empty()) stack.back().children_ns += ns;
    return Left{left.data, ns, ns - std::min(left.children_ns, ns)};
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Entered>> stacks_;  // by the track's number
};

}}}  // namespace tracing::v1::recording
