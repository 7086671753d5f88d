#include "tracing_core/profile/profile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/write_all.h"
#include "tracing_core/export/xplane/profile_folder.h"
#include "tracing_core/export/xplane/xplane.h"
#include "tracing_core/inspect/statistics_reader.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/profile/gzip.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

std::string message_of(int error) { return std::generic_category().message(error); }

// Makes a folder that did not exist and returns its path. If that fails, returns an empty path and sets errno.
std::string make_run_folder(std::string const& profiles) {
  std::string const first = profiles + "/" + recording::profile_run_of(Instant::now());
  std::string folder = first;
  for (int number = 2; mkdir(folder.c_str(), 0777) != 0; ++number) {
    if (errno != EEXIST) return {};
    folder = first + "_" + std::to_string(number);
  }
  return folder;
}

std::string name_of_machine() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

std::string profiles_folder(std::string dir) {
  while (dir.size() > 1 && dir.ends_with('/')) dir.pop_back();
  return (dir.empty() ? "." : dir) + "/plugins/profile";
}

// Writes each of the files.
void write_files(RecordedProfile& profile, ProfileResult& result, std::string const& host) {
  auto const source = [&] {
    recording::TraceSource made(*profile.recording);
    made.process = program_name();
    made.filter = with_perf_spans(nullptr);
    return made;
  };
  auto const add = [&](std::string const& suffix, std::function<bool(WriteText const&)> const& content) {
    std::string const path = result.folder + "/" + recording::profile_name_of(host) + suffix;
    std::string error = write_whole_file(path, content, FileName::formed);
    if (error.empty()) {
      result.files.push_back(path);
    } else if (result.error.empty()) {
      result.error = std::move(error);
    }
  };
  add(".xplane.pb",
      [&](WriteText const& out) { return recording::write_xplane(source(), {.hostname = host}, out), true; });
  if (recording::Gzip::is_available()) {
    add(".trace.json.gz", [&](WriteText const& out) { return recording::write_trace_json_gz(source(), {}, out); });
  } else {
    add(".trace.json", [&](WriteText const& out) { return recording::write_chrome(source(), {}, out), true; });
  }
  add(".pftrace", [&](WriteText const& out) { return recording::write_perfetto(source(), out), true; });
}

}  // namespace

std::string write_whole_file(std::string const& path, std::function<bool(WriteText const&)> const& content,
                             FileName name) {
  bool const replaces = name == FileName::formed || !is_special_file(path.c_str());
  std::string part;
  int const file = replaces ? create_part(path, part) : open_file(path.c_str(), O_WRONLY);
  int error = file < 0 ? errno : 0;
  bool const is_whole = content([&](std::string_view text) {
    if (error == 0) error = write_once(file, text);
  });
  if (!is_whole && error == 0) error = ENOMEM;
  // Some file systems report only now that they are full.
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error == 0 && replaces && rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  if (file >= 0 && replaces) unlink(part.c_str());
  return "could not write " + path + ": " + message_of(error);
}

std::string absolute_path(std::string_view path) {
  if (path == ".") path = {};
  if (path.starts_with("./") && !path.starts_with(".//")) path.remove_prefix(2);
  std::error_code ignored;  // the path stays as it is if the folder is gone
  return (std::filesystem::current_path(ignored) / path).string();
}

std::string program_name() {
  char const* const name = program_invocation_short_name;
  return name == nullptr ? "" : name;
}

std::string prepare_profile_folder(std::string const& dir) {
  std::string const folder = profiles_folder(dir);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return "could not create " + folder + ": " + error.message();
  if (access(folder.c_str(), W_OK | X_OK) != 0) return "could not write to " + folder + ": " + message_of(errno);
  return {};
}

ProfileResult write_profile(RecordedProfile& profile, std::string const& dir, ProfilerOptions const& options) {
  ProfileResult result;
  result.overwritten = profile.overwritten;
  std::string const profiles = profiles_folder(dir);
  if (options.run.empty()) {
    result.folder = make_run_folder(profiles);
    if (result.folder.empty()) result.error = "could not create a folder in " + profiles + ": " + message_of(errno);
  } else {
    result.folder = profiles + "/" + recording::profile_name_of(options.run);
    if (mkdir(result.folder.c_str(), 0777) != 0 && errno != EEXIST)
      result.error = "could not create " + result.folder + ": " + message_of(errno);
  }
  if (!result.error.empty()) return result.folder.clear(), result;
  write_files(profile, result, options.host_name.empty() ? name_of_machine() : options.host_name);
  return result;
}

std::string tables_of(RecordedProfile& profile, std::size_t max_rows) {
  recording::StatisticsSource source(*profile.recording);
  source.filter = with_perf_spans(nullptr);
  recording::StatisticsReader reader(StatisticsBy::all);
  reader.add(std::move(source));
  TextBuffer tables;
  append_statistics_table(tables, reader.finish(), {.max_rows = max_rows});
  return std::string(tables.view());
}

}}}  // namespace tracing::v1::internal
