#include "tracing_core/format/timer.h"

#include <cstdint>

#include "tracing_core/format/datetime.h"

namespace tracing { inline namespace v1 {
namespace {

template <auto kAppend>
class CalendarTimer final : public Timer {
 public:
  bool append(TextBuffer& out, Instant time) const noexcept override {
    // std::chrono::floor() would overflow in the first second that an Instant has, in 1677.
    constexpr std::int64_t kSecond = 1'000'000'000;
    bool const is_before = time.ns % kSecond < 0;
    kAppend(out, time.ns / kSecond - is_before, static_cast<std::uint32_t>(time.ns % kSecond + is_before * kSecond));
    return true;
  }
  bool is_plain() const noexcept override { return true; }
};

class UptimeTimer final : public Timer {
 public:
  explicit UptimeTimer(Instant start) noexcept : start_(start) {}
  bool append(TextBuffer& out, Instant time) const noexcept override {
    append_uptime(out, time > start_ ? static_cast<std::uint64_t>(time.ns) - static_cast<std::uint64_t>(start_.ns) : 0);
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

}}  // namespace tracing::v1
