// Declares Timer, which prints the time of a record, and the timers there are.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Prints the time of a record. Thread-safe.
class Timer {
 public:
  Timer() = default;
  Timer(Timer const&) = delete;
  Timer& operator=(Timer const&) = delete;
  virtual ~Timer() = default;

  /// Appends `time`. False where it cannot: text formats then print `<unknown time>`, JSON leaves the event out.
  virtual bool append(TextBuffer& out, Instant time) const noexcept = 0;
  /// Whether it only ever appends ASCII that stands in a string of JSON as it is; then nobody looks.
  virtual bool is_plain() const noexcept { return false; }
};

/// `2026-01-08T23:56:09.977977Z`
std::shared_ptr<Timer const> utc_timer();
/// `2026-01-09T00:56:09.977977+01:00`, in the time zone of the process.
std::shared_ptr<Timer const> local_timer();
/// `   1.000000042s` since `start`; since this call where that is not known. Times before it print as zero.
std::shared_ptr<Timer const> uptime_timer(Instant start = {});

/// A timer that calls `append`, a `bool(TextBuffer& out, Instant time)` that is thread-safe and does not throw.
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

}  // namespace tracing::inline v1
