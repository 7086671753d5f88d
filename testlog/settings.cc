#include "testlog/settings.h"

#include <utility>

namespace testlog::inline v1 {
namespace {

constinit internal::RegisteredSettings const* first = nullptr;

// "Instance/Suite" -> "Suite"; of a typed test "Instance/Suite/0" or "Suite/0" -> "Suite".
std::string_view written_suite(std::string_view suite, bool typed) {
  if (typed) suite = suite.substr(0, suite.rfind('/'));
  std::size_t const slash = suite.rfind('/');
  return slash == suite.npos ? suite : suite.substr(slash + 1);
}

}  // namespace

namespace internal {

RegisteredSettings::RegisteredSettings(std::string_view suite, std::string_view name, Settings settings) noexcept
    : suite_(suite), name_(name), settings_(settings), next_(std::exchange(first, this)) {}

}  // namespace internal

Settings const* find_settings(std::string_view suite, std::string_view name, bool typed) noexcept {
  suite = written_suite(suite, typed);
  name = name.substr(0, name.find('/'));
  for (auto const* one = first; one != nullptr; one = one->next_) {
    if (one->suite_ == suite && one->name_ == name) return &one->settings_;
  }
  return nullptr;
}

}  // namespace testlog::inline v1
