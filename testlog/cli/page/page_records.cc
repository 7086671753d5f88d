#include "testlog/cli/page/page_records.h"

namespace testlog::cli::page {

std::uint32_t Texts::number_of(std::string_view text) {
  auto const found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  auto const number = static_cast<std::uint32_t>(all_.size());
  numbers_.emplace(all_.emplace_back(text), number);
  return number;
}

}  // namespace testlog::cli::page
