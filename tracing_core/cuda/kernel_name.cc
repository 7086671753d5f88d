#include "tracing_core/cuda/kernel_name.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace tracing::inline v1::cuda {
namespace {

// Where the parameters begin, which end the text. Their own parentheses, as of a function pointer, are within.
std::size_t begin_of_parameters(std::string_view text) noexcept {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return text.size();
}

// With -rdc=true nvcc puts the unit before the names that are internal to it: __nv_static_<length>_<unit>_<name>.
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
  std::unique_ptr<char, void (*)(void*)> const demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  if (demangled == nullptr) return std::string(mangled);
  std::string_view text = demangled.get();
  if (text.ends_with(')')) text = text.substr(0, begin_of_parameters(text));
  constexpr std::string_view kReturnType = "void ";  // of a template
  if (text.starts_with(kReturnType)) text.remove_prefix(kReturnType.size());
  return std::string(text);
}

}  // namespace tracing::inline v1::cuda
