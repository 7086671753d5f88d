#include "printed_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tracing_core/export/line_sink.h"

namespace conformance {
namespace {

constexpr std::string_view kNames[] = {"time.busy", "time.idle"};
constexpr std::string_view kUnits[] = {"ns", "µs", "ms", "s"};

// Skips colours, `=`, `: `, and `":"` between a name and its value.
std::size_t skip_separator(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size() - 1) + 1;
    } else if (std::string_view("\":= ").find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// Returns the size of a duration at the start of `text`: digits with at most one dot, and a unit.
std::size_t duration_size(std::string_view text) {
  std::size_t const digits = std::min(text.find_first_not_of("0123456789."), text.size());
  if (digits == 0 || std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(digits), '.') > 1) return 0;
  for (std::string_view const unit : kUnits) {
    if (text.substr(digits).starts_with(unit)) return digits + unit.size();
  }
  return 0;
}

}  // namespace

std::unique_ptr<tracing::Layer> printing_layer(tracing::PrintOptions options, std::string& out) {
  options.writer = tracing::to_sink(tracing::make_sink([&out](tracing::Level, std::string_view text) { out += text; }));
  return tracing::print_layer(std::move(options));
}

std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options, std::string& out) {
  return tracing::RegistryBuilder().with(printing_layer(std::move(options), out)).build();
}

std::string without_durations(std::string const& text) {
  std::string out = text;
  for (std::string_view const name : kNames) {
    for (std::size_t at = out.find(name); at != out.npos; at = out.find(name, at)) {
      at = skip_separator(out, at + name.size());
      if (std::size_t const size = duration_size(std::string_view(out).substr(at))) out.replace(at, size, "<T>");
    }
  }
  return out;
}

}  // namespace conformance
