#include "tracing_core/format/amounts.h"

#include <fmt/format.h>

namespace tracing { inline namespace v1 { namespace formatting {

std::string text_of_ns(std::uint64_t ns) {
  double const number = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} us", number / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3f} ms", number / 1e6);
  return fmt::format("{:.3f} s", number / 1e9);
}

std::string text_of_bytes(std::uint64_t bytes) {
  double const number = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", number / 1024);
  if (bytes < 1024 * 1024 * 1024) return fmt::format("{:.1f} MiB", number / (1024 * 1024));
  return fmt::format("{:.1f} GiB", number / (1024 * 1024 * 1024));
}

std::string text_of_partial(std::uint64_t open, std::uint64_t cut) {
  auto const counted = [](std::uint64_t count, char const* what) {
    return count == 0 ? std::string() : count == 1 ? std::string(what) : fmt::format("{} {}", count, what);
  };
  if (open == 0 && cut == 0) return {};
  return " (" + counted(open, "open") + (open != 0 && cut != 0 ? ", " : "") + counted(cut, "cut") + ")";
}

}}}  // namespace tracing::v1::formatting
