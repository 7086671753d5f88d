#include "tracing_core/export/xplane/profile_folder.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace tracing { inline namespace v1 { namespace recording {

std::string profile_run_of(Instant time) {
  time_t const seconds = time.ns / 1'000'000'000;
  tm local{};
  char text[64];
  if (localtime_r(&seconds, &local) == nullptr) return "run";
  return std::string(text, strftime(text, sizeof(text), "%Y_%m_%d_%H_%M_%S", &local));
}

std::string profile_name_of(std::string_view name) {
  std::string made(name);
  auto const ends_path = [](char c) { return c == '/' || c == ':' || c == '\0'; };
  std::replace_if(made.begin(), made.end(), ends_path, '_');
  constexpr std::size_t kMaxBytes = 200;  // filesystems take 255, with a suffix
  if (made.size() <= kMaxBytes) return made;
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  std::string const end = fmt::format("~{:016x}", hash);
  made.resize(kMaxBytes - end.size());
  return made + end;
}

std::string profile_path(std::string_view folder, std::string_view run, std::string_view host,
                         std::string_view suffix) {
  std::string path(folder.empty() ? "." : folder);
  if (!path.ends_with('/')) path.push_back('/');
  return path.append("plugins/profile/").append(run).append("/").append(profile_name_of(host)).append(suffix);
}

}}}  // namespace tracing::v1::recording
