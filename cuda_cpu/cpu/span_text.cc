#include "cuda_cpu/cpu/span_text.h"

#include "tracing_core/format/span_path.h"

namespace cuda_cpu::cpu {

std::string span_note(std::string_view verb) {
  tracing::TextBuffer path;
  tracing::append_current_path(path);
  if (path.empty()) return {};
  return std::string(verb).append(" in ").append(path.view());
}

}  // namespace cuda_cpu::cpu
