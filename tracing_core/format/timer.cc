#include "tracing_core/format/timer.h"

#include "tracing_core/format/datetime.h"

namespace tracing::inline v1 {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct SplitTime {
  std::int64_t seconds;  // rounded down
  std::uint32_t nanoseconds;
};

constexpr SplitTime split(Instant time) noexcept {
  std::int64_t seconds = time.ns / kSecond;
  std::int64_t rest = time.ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {seconds, static_cast<std::uint32_t>(rest)};
}

template <auto kAppend>
class CalendarTimer final : public Timer {
 public:
  bool append(TextBuffer& out, Instant time) const noexcept override {
    SplitTime const parts = split(time);
    kAppend(out, parts.seconds, parts.nanoseconds);
    return true;
  }
  bool is_plain() const noexcept override { return true; }
};

class UptimeTimer final : public Timer {
 public:
  explicit UptimeTimer(Instant start) noexcept : start_(start) {}
  bool append(TextBuffer& out, Instant time) const noexcept override {
    append_uptime(out, time > start_ ? static_cast<std::uint64_t>(time.ns - start_.ns) : 0);
    return true;
  }
  bool is_plain() const noexcept override { return true; }

 private:
  Instant start_;
};

}  // namespace

std::shared_ptr<Timer const> utc_timer() { return std::make_shared<CalendarTimer<append_utc_time> const>(); }
std::shared_ptr<Timer const> local_timer() { return std::make_shared<CalendarTimer<append_local_time> const>(); }
std::shared_ptr<Timer const> uptime_timer(Instant start) {
  return std::make_shared<UptimeTimer const>(start ? start : Instant::now());
}

}  // namespace tracing::inline v1
