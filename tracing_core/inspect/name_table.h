// Declares NameTable, which keeps each name once and gives it a number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracing::inline v1::internal {

/// Names by number, in the order in which they first came. Single-thread.
class NameTable {
 public:
  std::uint32_t number_of(std::string_view name) {
    auto const found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    auto const number = static_cast<std::uint32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), number);
    return number;
  }
  /// Lives as long as the table, also when that is moved.
  std::string_view operator[](std::uint32_t number) const { return names_[number]; }
  std::vector<std::string> all() const { return {names_.begin(), names_.end()}; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(names_.size()); }

 private:
  std::deque<std::string> names_;  // never move their text
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace tracing::inline v1::internal
