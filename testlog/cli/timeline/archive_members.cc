#include "testlog/cli/timeline/archive_members.h"

#include <algorithm>
#include <cstddef>

#include "tracing_core/format/json_value.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::cli {
namespace {

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
}

}  // namespace

std::string perfetto_manifest_of(std::vector<ArchiveMember> const& members) {
  using tracing::formatting::append_json_text;
  tracing::TextBuffer out;
  out.append("{\"perfetto_manifest\":{\"version\":1,\"files\":[");
  for (ArchiveMember const& member : members) {
    out.append(&member == &members.front() ? "\n{\"path\":" : ",\n{\"path\":");
    append_json_text(out, member.path);
    if (!member.machine.empty()) {
      out.append(",\"machine\":{\"name\":");
      append_json_text(out, member.machine);
      out.push_back('}');
    }
    if (!member.clock_of.empty()) {
      out.append(",\"clocks\":{\"sync_to\":{\"file\":");
      append_json_text(out, member.clock_of);
      out.append(",\"clock\":\"REALTIME\"},\"offset_ns\":0}");
    }
    out.push_back('}');
  }
  out.append("\n]}}\n");
  return std::string(out.view());
}

std::string MemberNames::add(std::string name, char const* suffix) {
  constexpr std::size_t kMaxBytes = 76;  // leaves room for a number and the suffix
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_plain(c); }, '_');
  name.resize(std::min(name.size(), kMaxBytes));
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  std::string made = name + suffix;
  for (std::size_t i = 2; !taken_.insert(made).second; ++i) made = name + "." + std::to_string(i) + suffix;
  return made;
}

}  // namespace testlog::cli
