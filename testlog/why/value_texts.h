// ValueTexts: the different values in two runs, each kept once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/model/value.h"

namespace testlog::why {

using TextId = std::uint32_t;

/// Single-thread.
class ValueTexts {
 public:
  /// Returns the number of a value. Equal values have one number.
  TextId add(tracing::Value const& value);

  std::string const& text(TextId id) const noexcept { return all_[id].text; }
  /// Returns a number that is equal for equal values.
  std::uint64_t exact(TextId id) const noexcept { return all_[id].exact; }
  /// Returns a number that is equal for values that look the same, see shape_of(), for floating-point numbers that
  /// differ behind the point, and for all pointers but null.
  std::uint64_t shape(TextId id) const noexcept { return all_[id].shape; }

 private:
  struct Known {
    std::uint64_t exact, shape;
    std::string text;
  };
  std::vector<Known> all_;
  std::unordered_map<std::uint64_t, TextId> by_id_;
};

/// Returns a text in which `#` replaces each digit of numbers with at least four digits, decimal or hexadecimal, and
/// nine of them replace all digits of longer numbers. So ids, ports and times of two runs look the same, and small
/// numbers do not.
std::string shape_of(std::string_view text);

}  // namespace testlog::why
