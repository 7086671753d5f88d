#include "cuda_cpu/ptx/diagnostic.h"

namespace cuda_cpu::ptx {

std::string Diagnostic::to_string() const {
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message + " at " +
         (text.empty() ? "the end of the text" : "'" + text + "'");
}

}  // namespace cuda_cpu::ptx
