// Parses any bytes as a filter, with and without regular expressions, and prints its errors and directives.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tracing_core/filter/directive.h"
#include "tracing_core/filter/parse_error.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(std::string_view text, tracing::ValueSyntax syntax) {
  auto const parsed = tracing::parse_directives(text, syntax);
  for (auto const& error : parsed.errors) {
    require(error.position <= text.size() && error.length <= text.size() - error.position);
    require(!error.hint.empty() && !tracing::render(error, text, "TRACE_FILTER").empty());
  }
  for (auto const& directive : parsed.directives) {
    require(!directive.to_string().empty());
    require(tracing::compare_specificity(directive, directive) == 0);
  }
  tracing::Directive::parse(text, nullptr, syntax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  for (auto const syntax :
       {tracing::ValueSyntax::text_or_regex, tracing::ValueSyntax::regex, tracing::ValueSyntax::printed})
    check(text, syntax);
  return 0;
}
