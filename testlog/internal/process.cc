#include "testlog/internal/process.h"

#include <cstdlib>

namespace testlog { inline namespace v1 { namespace internal {
namespace {

// Returns the value of a flag of GoogleTest, "1" if it has none. For other arguments, data() == nullptr.
std::string_view flag_value(std::string_view argument, std::string_view flag) noexcept {
  std::size_t const dashes = argument.starts_with("--")                               ? 2
                             : argument.starts_with("-") || argument.starts_with("/") ? 1
                                                                                      : 0;
  if (dashes == 0) return {};
  argument.remove_prefix(dashes);
  if (!argument.starts_with("gtest_")) return {};
  argument.remove_prefix(6);
  if (!argument.starts_with(flag)) return {};
  argument.remove_prefix(flag.size());
  if (argument.empty()) return "1";
  return argument.front() == '=' ? argument.substr(1) : std::string_view{};
}

// Reads a boolean as GoogleTest does.
bool is_on(std::string_view value) noexcept {
  return value.data() != nullptr && !(value.starts_with('0') || value.starts_with('f') || value.starts_with('F'));
}

bool is_one_test(std::string_view filter) noexcept { return filter.find_first_of("*?:-") == filter.npos; }

}  // namespace

ProcessRole read_role(int argc, char const* const* argv) noexcept {
  ProcessRole role;
  role.argc = argc;
  role.argv = argv;
  if (char const* const color = std::getenv("GTEST_COLOR")) role.gtest_color = color;
  std::string_view filter;
  if (char const* const variable = std::getenv("GTEST_FILTER")) filter = variable;
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    std::string_view const argument = argv[i];
    if (argument == "--") break;
    if (auto const value = flag_value(argument, "list_tests"); value.data() != nullptr) role.listing = is_on(value);
    if (flag_value(argument, "internal_run_death_test").size() > 1) role.death_test_child = true;
    if (auto const value = flag_value(argument, "color"); value.data() != nullptr) role.gtest_color = value;
    if (auto const value = flag_value(argument, "filter"); value.data() != nullptr) filter = value;
  }
  if (is_one_test(filter)) role.only_test = filter;
  return role;
}

}}}  // namespace testlog::v1::internal
