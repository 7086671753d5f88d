// SpanId, Parent and Track: the identity of a span, its parent, and the timeline that it belongs to.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Identifies a span of one subscriber; zero means no span. Unique while the span is referenced; may be reused later.
struct SpanId {
  std::uint64_t value = 0;

  constexpr explicit operator bool() const noexcept { return value != 0; }
  friend constexpr auto operator<=>(SpanId, SpanId) noexcept = default;
  friend constexpr bool operator==(SpanId, SpanId) noexcept = default;  // nvcc does not add it
};

/// The parent of a new span or event.
struct Parent {
  enum class Kind : std::uint8_t {
    contextual,  ///< the current span of the thread or track
    root,        ///< no parent
    span,        ///< the span `id`
  };
  Kind kind = Kind::contextual;
  SpanId id{};

  static constexpr Parent root() noexcept { return {Kind::root, {}}; }
  /// Returns the span `id` as the parent, or root() if `id` is empty.
  static constexpr Parent below(SpanId id) noexcept { return id ? Parent{Kind::span, id} : root(); }
};

/// A timeline of records: a thread of this process, a stream of a GPU, a thread of a recording. A record belongs to the
/// thread that emits it, unless it has another track.
struct Track {
  std::uint64_t number = 0;  ///< unique in the process; threads count from 1 in the order of their first record
  std::string_view name;     ///< empty if the track has none; valid as long as the track
};

}}  // namespace tracing::v1
