#include "tracing_core/cuda/driver/kernel_name.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

// Returns where the parameters begin: at the parenthesis that matches the last parenthesis of the text. The parameters
// may contain parentheses, too, such as a function pointer's.
std::size_t begin_of_parameters(std::string_view text) noexcept {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return text.size();
}

// Removes the unit that nvcc, with -rdc=true, puts before names that are internal to the unit:
// __nv_static_<length>_<unit>_<name>.
char const* without_unit(char const* symbol) noexcept {
  constexpr std::string_view kPrefix = "__nv_static_";
  std::string_view const text = symbol;
  if (!text.starts_with(kPrefix)) return symbol;
  std::size_t length = 0;
  auto const [end, error] = std::from_chars(symbol + kPrefix.size(), symbol + text.size(), length);
  std::size_t const rest = static_cast<std::size_t>(symbol + text.size() - end);
  return error == std::errc() && rest > 2 && length <= rest - 2 ? end + length + 2 : symbol;
}

}  // namespace

std::string kernel_name(char const* symbol) {
  symbol = without_unit(symbol);
  std::string_view const mangled = symbol;
  if (!mangled.starts_with("_Z")) return std::string(mangled);
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         std::free);
  if (demangled == nullptr) return std::string(mangled);
  std::string_view text = demangled.get();
  if (text.ends_with(')')) text = text.substr(0, begin_of_parameters(text));
  constexpr std::string_view kReturnType = "void ";  // demangled names of templates have it
  if (text.starts_with(kReturnType)) text.remove_prefix(kReturnType.size());
  return std::string(text);
}

}}}  // namespace tracing::v1::cuda
