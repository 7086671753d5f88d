// Prints how many bytes of a recording have ever been used: used_bytes <file>
#include <cstdio>
#include <string>
#include <string_view>

#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/used_bytes.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("used_bytes <file>\n", stderr), 2;
  std::string error;
  auto const source = tracing::recording::open_source(argv[1], error);
  std::size_t bytes = 0;
  if (source == nullptr ||
      !tracing::recording::copy_used(*source, [&bytes](std::string_view part) { bytes += part.size(); }))
    return std::fprintf(stderr, "used_bytes: %s: %s\n", argv[1], error.empty() ? "not a recording" : error.c_str()), 1;
  std::printf("%zu\n", bytes);
}
