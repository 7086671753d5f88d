#include "tracing_core/format/datetime.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "tracing_core/support/digits.h"

namespace tracing { inline namespace v1 {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::size_t kMicrosecondDigits = 6;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kSecondsPerQuarter = 900;

constexpr std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) noexcept {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

struct Date {
  std::int64_t year;
  std::uint32_t month;
  std::uint32_t day;
};

// Returns the date of a day. The calendar repeats every 400 years, so the years of std::chrono, which have 16 bits,
// suffice.
Date date_of(std::int64_t days_since_epoch) noexcept {
  constexpr std::int64_t kDaysPerCycle = 146'097;
  std::int64_t const cycle = floor_divide(days_since_epoch, kDaysPerCycle);
  std::chrono::days const days(days_since_epoch - cycle * kDaysPerCycle);
  std::chrono::year_month_day const date{std::chrono::sys_days(days)};
  return {int{date.year()} + cycle * 400, unsigned{date.month()}, unsigned{date.day()}};
}

char* write_year(char* at, std::int64_t year) noexcept {
  if (year > 9999) *at++ = '+';
  if (year < 0) *at++ = '-';
  auto const magnitude = static_cast<std::uint64_t>(std::abs(year));
  return magnitude < 10'000 ? support::write_digits(at, magnitude, 4) : support::write_uint(at, magnitude);
}

char* write_two(char* at, std::uint32_t value, char separator) noexcept {
  at = support::write_two_digits(at, value);
  *at = separator;
  return at + 1;
}

// Returns minutes east of Greenwich; 0 for times that localtime_r() cannot convert, such as years beyond int.
std::int32_t utc_offset_minutes(std::int64_t seconds) noexcept {
  std::time_t const time = seconds;
  std::tm local{};
  return localtime_r(&time, &local) == nullptr ? 0 : static_cast<std::int32_t>(local.tm_gmtoff / 60);
}

// Appends times, and keeps the text of the last second.
class UtcTimeText {
 public:
  void append(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds, std::string_view zone) noexcept {
    if (seconds != seconds_ || prefix_size_ == 0) [[unlikely]]
      update(seconds);
    if (char* const begin = out.reserve(kMaxPrefixSize + kMicrosecondDigits + zone.size())) {
      std::memcpy(begin, prefix_, kMaxPrefixSize);  // a fixed size, so the compiler makes two moves
      char* const end = support::write_six_digits(begin + prefix_size_, nanoseconds / 1000);
      std::memcpy(end, zone.data(), zone.size());
      out.commit(prefix_size_ + kMicrosecondDigits + zone.size());
    }
  }

 private:
  static constexpr std::size_t kMaxPrefixSize = 32;  // "-292277022657-01-27T08:29:52." is shorter

  void update(std::int64_t seconds) noexcept {
    auto const days = floor_divide(seconds, kSecondsPerDay);
    auto const date = date_of(days);
    std::int64_t const rest = seconds % kSecondsPerDay;  // not seconds - days * kSecondsPerDay, which may overflow
    auto const second_of_day = static_cast<std::uint32_t>(rest < 0 ? rest + kSecondsPerDay : rest);
    char* at = write_year(prefix_, date.year);
    *at++ = '-';
    at = write_two(at, date.month, '-');
    at = write_two(at, date.day, 'T');
    at = write_two(at, second_of_day / 3600, ':');
    at = write_two(at, second_of_day / 60 % 60, ':');
    at = write_two(at, second_of_day % 60, '.');
    prefix_size_ = static_cast<std::size_t>(at - prefix_);
    seconds_ = seconds;
  }

  std::int64_t seconds_ = 0;
  std::size_t prefix_size_ = 0;  // 0: no text yet
  char prefix_[kMaxPrefixSize] = {};
};

class LocalTimeText {
 public:
  void append(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
    auto const quarter = floor_divide(seconds, kSecondsPerQuarter);
    if (!is_known_ || quarter != quarter_) update(seconds, quarter);
    text_.append(out, seconds + offset_minutes_ * 60, nanoseconds, {offset_, sizeof offset_});
  }

 private:
  void update(std::int64_t seconds, std::int64_t quarter) noexcept {
    offset_minutes_ = utc_offset_minutes(seconds);
    auto const minutes = static_cast<std::uint32_t>(std::abs(offset_minutes_));
    offset_[0] = offset_minutes_ < 0 ? '-' : '+';
    support::write_two_digits(write_two(offset_ + 1, minutes / 60, ':'), minutes % 60);
    quarter_ = quarter;
    is_known_ = true;
  }

  UtcTimeText text_;
  std::int64_t quarter_ = 0;
  std::int32_t offset_minutes_ = 0;
  bool is_known_ = false;
  char offset_[6] = {};  // "+hh:mm"
};

}  // namespace

void append_utc_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
  constinit thread_local UtcTimeText text;
  text.append(out, seconds, nanoseconds, "Z");
}

void append_local_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
  constinit thread_local LocalTimeText text;
  text.append(out, seconds, nanoseconds);
}

void append_uptime(TextBuffer& out, std::uint64_t nanoseconds) noexcept {
  constexpr std::size_t kWidth = 4;
  constexpr std::size_t kNanosecondDigits = 9;
  auto const seconds = nanoseconds / kNanosecondsPerSecond;
  auto const digits = support::count_digits(seconds);
  if (digits < kWidth) out.append(kWidth - digits, ' ');
  out.append_uint(seconds);
  if (char* const at = out.reserve(2 + kNanosecondDigits)) {
    *at = '.';
    *support::write_digits(at + 1, nanoseconds % kNanosecondsPerSecond, kNanosecondDigits) = 's';
    out.commit(2 + kNanosecondDigits);
  }
}

}}  // namespace tracing::v1
