// Declares SpanId, Parent and Track: which span, below which one, on whose line of time.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace tracing::inline v1 {

/// One span of one subscriber; zero is no span. Not used again while anyone holds the span; may be used again later.
struct SpanId {
  std::uint64_t value = 0;

  constexpr explicit operator bool() const noexcept { return value != 0; }
  friend constexpr auto operator<=>(SpanId, SpanId) noexcept = default;
  friend constexpr bool operator==(SpanId, SpanId) noexcept = default;  // nvcc does not add it
};

/// What a new span or event stands below.
struct Parent {
  enum class Kind : std::uint8_t {
    contextual,  ///< the span that the thread (or track) is in
    root,        ///< nothing
    span,        ///< `id`
  };
  Kind kind = Kind::contextual;
  SpanId id{};

  static constexpr Parent root() noexcept { return {Kind::root, {}}; }
  /// Below `id`; root where that is no span.
  static constexpr Parent below(SpanId id) noexcept { return id ? Parent{Kind::span, id} : root(); }
};

/// A line of time that records stand on: a thread of this process, or anything else that runs (a stream of a GPU, a thread
/// of a recording). Records name the thread that emits them unless they carry another track.
struct Track {
  std::uint64_t number = 0;  ///< unique in the process; threads count from 1 in the order of their first record
  std::string_view name;     ///< empty where it has none; lives as long as the track
};

}  // namespace tracing::inline v1
