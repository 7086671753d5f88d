// Timer: prints the time of a record.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Prints the time of a record. Thread-safe.
class Timer {
 public:
  Timer() = default;
  Timer(Timer const&) = delete;
  Timer& operator=(Timer const&) = delete;
  virtual ~Timer() = default;

  /// Appends `time`. If it returns false, text formats print `<unknown time>` and JSON omits the event.
  virtual bool append(TextBuffer& out, Instant time) const noexcept = 0;
  /// Returns true if append() appends only ASCII that JSON need not escape.
  virtual bool is_plain() const noexcept { return false; }
};

/// Prints `2026-01-08T23:56:09.977977Z`.
std::shared_ptr<Timer const> utc_timer();
/// Prints `2026-01-09T00:56:09.977977+01:00`, in the time zone of the process.
std::shared_ptr<Timer const> local_timer();
/// Prints `   1.000000042s` since `start`, by default since this call. Earlier times print as zero.
std::shared_ptr<Timer const> uptime_timer(Instant start = {});

/// Makes a timer that calls `append`, a `bool(TextBuffer& out, Instant time)`. It must be thread-safe and must not
/// throw.
template <class F>
std::shared_ptr<Timer const> make_timer(F append) {
  class Calling final : public Timer {
   public:
    explicit Calling(F&& f) : append_(std::move(f)) {}
    bool append(TextBuffer& out, Instant time) const noexcept override { return append_(out, time); }

   private:
    F append_;
  };
  return std::make_shared<Calling const>(std::move(append));
}

}}  // namespace tracing::v1
