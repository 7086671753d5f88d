// parse_compile_log(): reads the log of NVRTC and ptxas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace cuda {

enum class Severity : std::uint8_t { remark, warning, error };

/// One entry of a log. Its views refer to the log.
struct CompileMessage {
  Severity severity = Severity::remark;
  std::string_view file{};         ///< empty if the entry has no place
  std::size_t line = 0;            ///< from 1; 0 if the entry has no line
  std::string_view text{};         ///< without place, severity and number; usually one line
  std::string_view source_text{};  ///< the line of source in the log, without the blanks around it
  std::string_view context{};      ///< the lines after the caret: the instantiations that led there
};

/// The resources of a function, as reported by ptxas.
struct KernelUsage {
  std::string name{};              ///< lowered
  std::uint64_t registers = 0;     ///< per thread
  std::uint64_t shared_bytes = 0;  ///< static, per block
  std::uint64_t stack_bytes = 0;   ///< per thread
  std::uint64_t spill_store_bytes = 0;
  std::uint64_t spill_load_bytes = 0;

  friend bool operator==(KernelUsage const&, KernelUsage const&) = default;
};

/// The content of a log; must not outlive the log.
struct CompileLog {
  std::vector<CompileMessage> messages{};  ///< in the log's order
  std::vector<KernelUsage> usage{};
};

/// Parses a log. Skips lines that it does not know. Throws only std::bad_alloc. Thread-safe.
CompileLog parse_compile_log(std::string_view log);

}}}  // namespace tracing::v1::cuda
