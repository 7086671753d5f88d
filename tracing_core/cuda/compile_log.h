// Declares how the log of NVRTC and ptxas is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1::cuda {

enum class Severity : std::uint8_t { remark, warning, error };

/// One entry of a log. Views into the log.
struct CompileMessage {
  Severity severity = Severity::remark;
  std::string_view file{};         ///< empty: none is named
  std::size_t line = 0;            ///< from 1; 0: none is named
  std::string_view text{};         ///< without place, severity and number; seldom more than a line
  std::string_view source_text{};  ///< the line of source that the log shows, without blanks around it
  std::size_t column = 0;          ///< of source_text, from 1, to which the caret points; 0: there is none
  std::string_view context{};      ///< the lines behind the caret: which instantiation led there
};

/// What a function takes of the device, as ptxas tells it.
struct KernelUsage {
  std::string name{};                   ///< lowered
  std::uint64_t registers = 0;          ///< per thread
  std::uint64_t shared_bytes = 0;       ///< static, per block
  std::uint64_t stack_bytes = 0;        ///< per thread
  std::uint64_t spill_store_bytes = 0;
  std::uint64_t spill_load_bytes = 0;

  friend bool operator==(KernelUsage const&, KernelUsage const&) = default;
};

/// What a log says. Lives as long as the log.
struct CompileLog {
  std::vector<CompileMessage> messages{};  ///< in the log's order
  std::vector<KernelUsage> usage{};
};

/// Reads a log. What it does not know it passes over. Never throws but for memory; takes linear time. Thread-safe.
CompileLog parse_compile_log(std::string_view log);

}  // namespace tracing::inline v1::cuda
