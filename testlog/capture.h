// Capture: the ring of captured records, and which of them may still be reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "testlog/unreported_records.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/record_ring.h"
#include "tracing_core/filter/env_filter.h"

namespace testlog::inline v1 {

/// The layer and the ring may be used by all threads, the rest by the one that runs the tests.
class Capture {
 public:
  explicit Capture(Environment const& environment);
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

  /// Null if nothing is captured.
  tracing::RecordRing* ring() const noexcept { return ring_.get(); }
  /// The directives of TRACE_CAPTURE; null if everything is captured, or nothing. The registry owns it.
  tracing::EnvFilter const* filter() const noexcept { return filter_; }

  /// The layer that fills the ring, null if nothing is captured, and its filter. Each may be called once.
  std::unique_ptr<tracing::Layer> make_layer(Attribution& attribution);
  std::unique_ptr<tracing::Filter> take_filter() noexcept { return std::move(owned_filter_); }

  void begin_test(TestTag tag) noexcept;
  void end_test() noexcept;
  /// The number of the first record that the running test may have made.
  std::uint64_t first_record_of_test() const noexcept { return first_record_of_test_; }
  /// The number that the next record gets.
  std::uint64_t next_record() const noexcept { return ring_ == nullptr ? 0 : ring_->next_number(); }
  /// Why captured records of the running test are missing; empty if none are.
  std::string why_incomplete() const;
  UnreportedRecords& unreported() noexcept { return unreported_; }

 private:
  std::shared_ptr<tracing::RecordRing> ring_;
  std::unique_ptr<tracing::EnvFilter> owned_filter_;
  tracing::EnvFilter const* filter_ = nullptr;
  std::uint64_t first_record_of_test_ = 0;
  UnreportedRecords unreported_;
};

}  // namespace testlog::inline v1
