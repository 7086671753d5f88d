#include "tracing_core/inspect/stack_path.h"

#include <algorithm>

namespace tracing { inline namespace v1 { namespace internal {

std::size_t StackPath::go_to(std::string_view stack) {
  auto const differs = std::mismatch(stack.begin(), stack.end(), text_.begin(), text_.end()).first;
  auto const same = static_cast<std::size_t>(differs - stack.begin());
  auto const is_shared = [&](std::size_t end) { return end <= same && (end == stack.size() || stack[end] == ';'); };
  while (!ends_.empty() && !is_shared(ends_.back())) ends_.pop_back();
  std::size_t const shared = ends_.size();

  text_.resize(shared == 0 ? 0 : ends_.back());
  text_ += stack.substr(text_.size());
  if (shared > 0 && ends_.back() == text_.size()) return shared;
  std::size_t begin = shared == 0 ? 0 : ends_.back() + 1;
  for (std::size_t end; (end = text_.find(';', begin)) != text_.npos; begin = end + 1) ends_.push_back(end);
  ends_.push_back(text_.size());
  return shared;
}

std::size_t StackPath::go_to_reversed(std::string_view stack) {
  reversed_.clear();
  for (std::size_t end = stack.size();;) {
    std::size_t const separator = end == 0 ? stack.npos : stack.rfind(';', end - 1);
    std::size_t const begin = separator == stack.npos ? 0 : separator + 1;
    reversed_ += stack.substr(begin, end - begin);
    if (separator == stack.npos) break;
    reversed_ += ';';
    end = separator;
  }
  return go_to(reversed_);
}

}}}  // namespace tracing::v1::internal
