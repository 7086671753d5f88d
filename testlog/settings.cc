#include "testlog/settings.h"

#include <utility>

namespace testlog { inline namespace v1 {
namespace {

constinit internal::RegisteredSettings const* first = nullptr;

// Turns "Instance/Suite" into "Suite"; for a typed test also "Instance/Suite/0" and "Suite/0".
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

Settings settings_of(std::string_view suite, std::string_view name, bool typed) noexcept {
  suite = written_suite(suite, typed);
  name = name.substr(0, name.find('/'));
  Settings own;
  Settings of_suite;
  for (auto const* one = first; one != nullptr; one = one->next_) {
    if (one->suite_ != suite) continue;
    if (one->name_ == name) own = one->settings_;
    if (one->name_.empty()) of_suite = one->settings_;
  }
  if (own.default_filter.empty()) own.default_filter = of_suite.default_filter;
  if (!own.fail_on) own.fail_on = of_suite.fail_on;
  if (!own.perf) own.perf = of_suite.perf;
  return own;
}

}}  // namespace testlog::v1
