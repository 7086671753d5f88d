#include "tracing_core/format/duration_text.h"

#include <charconv>

#include "tracing_core/internal/digits.h"

namespace tracing::inline v1 {
namespace {

struct Unit {
  std::uint64_t nanoseconds;
  std::string_view name;
};

constexpr Unit kUnits[] = {{1, "ns"}, {1'000, "\u00b5s"}, {1'000'000, "ms"}, {1'000'000'000, "s"}};
constexpr std::uint64_t kThousandSeconds = 1'000'000'000'000;

// The reference divides a floating-point number by 1000 until it is below 1000 and rounds what that gives. Integers give
// the same text except where the true quotient is a tie, which the floating-point one need not be.
bool append_exactly(TextBuffer& out, std::uint64_t nanoseconds, Unit const& unit, int decimals) noexcept {
  std::uint64_t const step = unit.nanoseconds / internal::kPowersOfTen[static_cast<std::size_t>(decimals)];
  if (step == 0) {  // nanoseconds have no fraction
    out.append_uint(nanoseconds);
    if (decimals > 0) {
      out.push_back('.');
      out.append(static_cast<std::size_t>(decimals), '0');
    }
    return true;
  }
  std::uint64_t const rest = nanoseconds % step;
  if (rest * 2 == step) return false;
  std::uint64_t const steps = nanoseconds / step + (rest * 2 > step ? 1 : 0);
  std::uint64_t const steps_per_unit = internal::kPowersOfTen[static_cast<std::size_t>(decimals)];
  out.append_uint(steps / steps_per_unit);
  if (char* const end = decimals > 0 ? out.reserve(3) : nullptr) {
    end[0] = '.';
    internal::write_digits(end + 1, steps % steps_per_unit, static_cast<std::size_t>(decimals));
    out.commit(1 + static_cast<std::size_t>(decimals));
  }
  return true;
}

void append_rounded(TextBuffer& out, double value, int decimals) noexcept {
  constexpr std::size_t kLongest = 32;
  if (char* const begin = out.reserve(kLongest)) {
    auto const end = std::to_chars(begin, begin + kLongest, value, std::chars_format::fixed, decimals).ptr;
    out.commit(static_cast<std::size_t>(end - begin));
  }
}

}  // namespace

void append_duration(TextBuffer& out, std::uint64_t nanoseconds) noexcept {
  auto value = static_cast<double>(nanoseconds);
  for (Unit const& unit : kUnits) {
    if (nanoseconds < 1000 * unit.nanoseconds) {
      int const decimals = nanoseconds < 10 * unit.nanoseconds ? 2 : nanoseconds < 100 * unit.nanoseconds ? 1 : 0;
      if (!append_exactly(out, nanoseconds, unit, decimals)) append_rounded(out, value, decimals);
      return out.append(unit.name);
    }
    value /= 1000;
  }
  static_assert(kThousandSeconds == 1000 * kUnits[3].nanoseconds);
  append_rounded(out, value * 1000, 0);
  out.push_back('s');
}

}  // namespace tracing::inline v1
