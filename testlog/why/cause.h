// Cause: a difference between failing and passing runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "testlog/why/sites.h"

namespace testlog::why {

/// With fewer passing runs, nothing is compared: each id would be a difference.
inline constexpr std::size_t kMinPassing = 2;

enum class CauseKind : std::uint8_t {
  order,      ///< two threads did things with the same value in the other order, or one thread took another step
  exception,  ///< an event or span with an error, which passing runs do not have; or an exception left a span
  value,      ///< a field has a value that it has in no passing run
  thread,     ///< a statement ran on another thread
  occurs,     ///< passing runs do not have it
  missing,    ///< passing runs have it before that point
  count,      ///< a statement ran more often, or less often
  open,       ///< a span did not end
  duration,   ///< a span took at least four times as long, and 20 ms longer, than in all passing runs
  late,       ///< a thread of an earlier test, which had ended, recorded while the test ran
};
/// Returns the name of the enumerator.
std::string_view name(CauseKind kind) noexcept;

struct Cause {
  CauseKind kind = CauseKind::value;
  Site site{};
  std::string field{};                          ///< for `value`, and for an order of records with a shared value
  std::string here{};                           ///< the value in the first failing run that has the difference
  std::string there{};                          ///< the value in all passing runs
  double share_failing = 0, share_passing = 0;  ///< the share of failing and of passing runs that have the difference
  std::int64_t before_failure_ns = 0;           ///< the time from it to the failure, in the failing run of `here`
  std::string thread{};                         ///< its thread; of a missing record, the thread in passing runs
  std::size_t consequences = 0;                 ///< further differences that follow from this one and are left out
};

}  // namespace testlog::why
