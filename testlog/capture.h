// Capture: the recording of the process, and which of its records may still be reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "testlog/unreported_records.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/reader.h"
#include "tracing_core/record/record_layer.h"

namespace testlog::inline v1 {

/// Records into a file or, without it, into memory. The layer and the recording may be used by all
/// threads, the rest by the one that runs the tests. Places in the recording are moments of the clock: a record that
/// another thread is just making at such a moment may come before it and be read after it.
class Capture {
 public:
  /// `file` is that of TRACE_RECORD or TRACE_RECORD_DEFAULT, or null. `attribution`, the only one of the process, says to which test
  /// records belong, and must outlive everything.
  Capture(Environment const& environment, std::unique_ptr<tracing::internal::Region> file, Attribution& attribution);
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

  /// Null if nothing is captured: TRACE_CAPTURE is off, or memory ran out.
  tracing::internal::RecordStore const* store() const noexcept { return is_off_ ? nullptr : store_.get(); }
  /// The same, also if nothing is captured for reports.
  tracing::internal::RecordStore const* recording() const noexcept { return store_.get(); }
  /// The records from a place. Null if there are none, or if memory ran out.
  std::unique_ptr<tracing::internal::Recording> read(std::uint64_t from) const;
  /// The same, also if nothing is captured for reports.
  std::unique_ptr<tracing::internal::Recording> read_all(std::uint64_t from) const;
  /// The directives of TRACE_CAPTURE; null if everything is captured, or nothing. The registry owns it.
  tracing::EnvFilter const* filter() const noexcept { return filter_; }

  /// The layer that records, null if there is nothing to do, and its filter. Each may be called once. Records that one of the
  /// layers `shown` sees are marked.
  std::unique_ptr<tracing::Layer> make_layer(tracing::LayerMask shown);
  std::unique_ptr<tracing::Filter> take_filter() noexcept { return std::move(owned_filter_); }

  void begin_test() noexcept { begin_of_test_ = now(); }
  /// The first place of the running test.
  std::uint64_t begin_of_test() const noexcept { return begin_of_test_; }
  /// The place after all records so far.
  std::uint64_t now() const noexcept;
  /// Whether a record after this place was overwritten.
  bool is_overwritten(std::uint64_t place) const noexcept;
  /// Why nothing is captured; empty if something is. Async-signal-safe.
  std::string_view why_nothing() const noexcept;
  /// Returns true if nothing is captured only because memory ran out.
  bool lacks_memory() const noexcept { return !is_off_ && store_ == nullptr; }
  /// Returns the cause of overwritten records: a setting, or the reason why the recording could not grow. REQUIRES: store().
  std::string bound() const;
  /// Why captured records of the running test are missing; empty if none are.
  std::string why_incomplete() const;
  UnreportedRecords& unreported() noexcept { return unreported_; }

 private:
  bool const is_off_;
  Attribution& attribution_;
  std::shared_ptr<tracing::internal::RecordStore> store_;
  std::unique_ptr<tracing::EnvFilter> owned_filter_;
  tracing::EnvFilter const* filter_ = nullptr;
  std::uint64_t begin_of_test_ = 0;
  UnreportedRecords unreported_;
};

}  // namespace testlog::inline v1
