// SpanOutlines: the spans of a recording without their values, and which of them an export keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "testlog/cli/otlp/run_facts.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli::otlp {

struct SpanOutline {
  static constexpr std::size_t kNone = ~std::size_t{0};

  Instant begin{}, end{};
  std::uint64_t key = 0;
  std::size_t parent = kNone;  ///< its index
  std::uint64_t track = 0;     ///< on which it was made
  std::uint32_t tag = 0;
  std::uint32_t bytes = 0;     ///< at least as many as it takes in protobuf
  bool begin_is_lost = false;  ///< `begin` is when the records of its thread begin
  bool is_open = false;        ///< it did not end
  bool is_on_path = false;     ///< a thread was in it when its test failed, or an exception left it
  bool was_left_by_exception = false;
  bool is_kept = false;
};

/// Follows the spans of a recording while it is replayed, and numbers them in the order of their beginnings. Two
/// replays of a recording with the same filter give the same numbers.
class SpanNumbers {
 public:
  std::size_t begin(tracing::SpanId span) {
    open_.insert_or_assign(span.value, count_);
    return count_++;
  }
  /// Returns SpanOutline::kNone for an empty span.
  std::size_t of(tracing::SpanRef span) const {
    auto const found = span ? open_.find(span.id().value) : open_.end();
    return found == open_.end() ? SpanOutline::kNone : found->second;
  }
  void end(tracing::SpanRef span) { open_.erase(span.id().value); }
  std::unordered_map<std::uint64_t, std::size_t> const& open() const noexcept { return open_; }

 private:
  std::unordered_map<std::uint64_t, std::size_t> open_;
  std::size_t count_ = 0;
};

struct OutlineOptions {
  std::unique_ptr<tracing::Filter> filter;
  /// What the spans of a trace may take.
  std::uint64_t max_trace_bytes = 0;
  bool with_events = false;  ///< events are parts of spans, at most kMaxEvents
  static constexpr std::size_t kMaxEvents = 128;
};

/// Returns the spans, by number. The traces are those of `facts`: one for each tag. If a trace is too large, keeps the
/// spans on the path of the failure first, then the longest ones, each with the spans around it. Takes about 80 bytes
/// for each span.
std::vector<SpanOutline> outlines_of(tracing::recording::Recording& recording, RunFacts const& facts,
                                     OutlineOptions options);

}  // namespace testlog::cli::otlp
