#include "tracing_core/cuda/phase_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace tracing::inline v1::cuda::internal {
namespace {

std::string_view trimmed(std::string_view text) {
  std::size_t const first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// Takes what stands behind the last comma. From the right, because the name of the source may hold commas.
std::string_view take_last(std::string_view& line) {
  std::size_t const comma = line.rfind(',');
  std::string_view const last = comma == line.npos ? line : line.substr(comma + 1);
  line = comma == line.npos ? std::string_view() : line.substr(0, comma);
  return trimmed(last);
}

}  // namespace

std::vector<CompilePhase> parse_phases(std::string_view text) {
  std::vector<CompilePhase> phases;
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    std::string_view const unit = take_last(line);
    std::string_view const amount = take_last(line);
    std::string_view const name = take_last(line);
    double ms = 0;
    auto const read = std::from_chars(amount.data(), amount.data() + amount.size(), ms);
    if (unit != "ms" || name.empty() || read.ec != std::errc() || read.ptr != amount.data() + amount.size()) continue;
    phases.push_back({std::string(name), std::chrono::duration<double, std::milli>(ms)});
  }
  return phases;
}

PhaseFile::PhaseFile() {
  std::error_code error;
  std::filesystem::path const folder = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::filesystem::path("/tmp") : folder) / "tracing-nvrtc-XXXXXX";
  int const file = mkstemp(path.data());
  if (file < 0) return;
  close(file);
  path_ = std::move(path);
}

PhaseFile::~PhaseFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::vector<CompilePhase> PhaseFile::read() const {
  std::ifstream file(path_, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  return parse_phases(text);
}

}  // namespace tracing::inline v1::cuda::internal
