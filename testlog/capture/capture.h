// Capture: the recording of the process, and which of its records can still be reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/capture/attribution.h"
#include "testlog/capture/unreported_records.h"
#include "testlog/environment.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/record_layer.h"

namespace testlog { inline namespace v1 {

/// Records into a file or, without a file, into memory. All threads may use the layer and the recording; only the
/// thread that runs the tests may use the rest. A place in the recording is a moment of the clock. If another thread is
/// making a record at that moment, the record may have an earlier time, but become readable later.
class Capture {
 public:
  /// `file` is the file of TRACE_RECORD or TRACE_RECORD_DEFAULT, or null. `attribution` says to which test records
  /// belong. It must be the only Attribution of the process and outlive everything.
  Capture(Environment const& environment, std::unique_ptr<tracing::internal::Region> file, Attribution& attribution);
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

  /// Returns null if nothing is captured: TRACE_CAPTURE is off, or memory ran out.
  tracing::internal::RecordStore const* store() const noexcept { return is_off_ ? nullptr : store_.get(); }
  /// As store(), but not null if TRACE_CAPTURE is off and a file or a profile needs the recording.
  tracing::internal::RecordStore* recording() const noexcept { return store_.get(); }
  /// Reads the records from a place on. Returns null if nothing is captured, or if memory ran out.
  std::unique_ptr<tracing::recording::Recording> read(std::uint64_t from) const;
  /// As read(), but reads recording() instead of store().
  std::unique_ptr<tracing::recording::Recording> read_all(std::uint64_t from) const;
  /// Returns the filter of TRACE_CAPTURE, which the registry owns; null if everything is captured, or nothing.
  tracing::EnvFilter const* filter() const noexcept { return filter_; }

  /// Make the layer that records, which is null if nothing is recorded, and its filter. Each may be called once. The
  /// layer marks the records that any of the layers `shown` sees.
  std::unique_ptr<tracing::Layer> make_layer(tracing::LayerMask shown);
  std::unique_ptr<tracing::Filter> take_filter() noexcept { return std::move(owned_filter_); }

  void begin_test() noexcept {
    begin_of_test_ = now();
    time_of_test_ = tracing::Instant::now();
  }
  /// Returns the first place of the running test.
  std::uint64_t begin_of_test() const noexcept { return begin_of_test_; }
  /// Returns the time at about begin_of_test(), for records with times of another process.
  tracing::Instant time_of_test() const noexcept { return time_of_test_; }
  /// Returns the place after all records so far.
  std::uint64_t now() const noexcept;
  /// Returns true if a record after this place was overwritten.
  bool is_overwritten(std::uint64_t place) const noexcept;
  /// Says why nothing is captured; returns an empty text if something is. Async-signal-safe.
  std::string_view why_nothing() const noexcept;
  /// Returns true if nothing is captured only because memory ran out.
  bool lacks_memory() const noexcept { return !is_off_ && store_ == nullptr; }
  /// Returns the cause of overwritten records: a setting, or the reason why the recording could not grow. REQUIRES:
  /// store().
  std::string bound() const;
  /// Says why captured records of the running test are missing; returns an empty text if they are all there.
  std::string why_incomplete() const;
  UnreportedRecords& unreported() noexcept { return unreported_; }

 private:
  bool const is_off_;
  Attribution& attribution_;
  std::shared_ptr<tracing::internal::RecordStore> store_;
  std::unique_ptr<tracing::EnvFilter> owned_filter_;
  tracing::EnvFilter const* filter_ = nullptr;
  std::uint64_t begin_of_test_ = 0;
  tracing::Instant time_of_test_{};
  UnreportedRecords unreported_;
};

}}  // namespace testlog::v1
