#include "testlog/cli/runs/recording_head.h"

#include <cstring>
#include <filesystem>
#include <system_error>

#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/ring/layout.h"

namespace testlog::cli {

namespace fs = std::filesystem;

std::optional<tracing::Instant> start_of(std::string const& file) {
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) return std::nullopt;  // a FIFO is read once
  alignas(tracing::internal::RegionHeader) char bytes[sizeof(tracing::internal::RegionHeader)];
  std::string reason;
  auto const source = tracing::recording::open_source(file, reason);
  if (source == nullptr || source->read(0, bytes, sizeof(bytes)) < sizeof(bytes)) return std::nullopt;
  auto const& header = *reinterpret_cast<tracing::internal::RegionHeader const*>(bytes);
  if (std::memcmp(header.magic, tracing::internal::kRecordingMagic, sizeof(header.magic)) != 0) return std::nullopt;
  return tracing::Instant{header.start_ns};
}

}  // namespace testlog::cli
