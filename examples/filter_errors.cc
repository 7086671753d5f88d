// Error messages for invalid filters.
#include <cstdio>
#include <vector>

#include <tracing_core/filter/env_filter.h>

int main() {
  for (char const* text : {"info,gpu=debgu", "info,gpu[launch=debug", "info,[launch{count=7}=trace,gpu=warn"}) {
    std::vector<tracing::ParseError> errors;
    auto const filter = tracing::EnvFilter::parse_lossy(text, {}, &errors);
    for (tracing::ParseError const& error : errors) std::puts(tracing::render(error, text, "TRACE_FILTER").c_str());
  }
}
