// The values, names and output of fields.
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <tracing_core/tracing.h>

#include "collect.h"

struct Grid {
  int x = 4, y = 2;
};

void names() {
  Grid const grid;
  Grid const* p = &grid;
  TRACE_VALUES(info, grid.x, p->y);                                 // named by their own text
  TRACE_VALUES(info, tracing::kv("cells", grid.x * grid.y));        // any other expression needs a name
  TRACE_INFO("grid of {columns}", tracing::kv("columns", grid.x));  // used by the message, and also a field
}

void numbers_and_text() {
  bool const ready = true;
  char const letter = 'x';
  float const ratio = 0.1F;
  std::string const name = "a \"quoted\" name\n";
  TRACE_VALUES(info, ready, letter, ratio, tracing::kv("big", 18446744073709551615U), name);
  TRACE_VALUES(info, tracing::kv("bare", tracing::display(name.substr(0, 1))));  // without quotes
}

void absent() {
  std::optional<int> const none;
  std::optional<int> const some = 3;
  char const* const text = nullptr;
  TRACE_INFO("absent values leave no trace", none, some, text);
}

void structure() {
  std::vector<int> const sizes{1, 2, 3};
  std::map<std::string, int> const ages{{"ada", 36}, {"alan", 41}};
  std::array const raw{std::byte{0x0a}, std::byte{0xff}};
  TRACE_VALUES(info, sizes, ages, raw);
}

void errors() {
  try {
    throw std::runtime_error("no such kernel");
  } catch (std::exception const& error) {
    TRACE_ERROR("compilation failed", error);
  }
  TRACE_WARN("cannot open", tracing::kv("why", std::error_code(ENOENT, std::generic_category())));
}

int main() {
  auto const tracing_guard = examples::init();
  names();
  numbers_and_text();
  absent();
  structure();
  errors();
}
