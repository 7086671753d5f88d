#include "tracing_core/environment/profile_outputs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/export/perfetto/perfetto.h"
#include "tracing_core/export/xplane/profile_folder.h"
#include "tracing_core/export/xplane/xplane.h"

namespace tracing { inline namespace v1 { namespace environment {

ProfileOutputs::ProfileOutputs(EnvOptions const& options, Output& output) : output_(output) {
  if (!options.perfetto.empty()) add("TRACE_PERFETTO", options.perfetto, false);
  if (!options.xplane.empty()) add("TRACE_XPLANE", options.xplane, true);
}

void ProfileOutputs::add(char const* variable, std::string path, bool is_xplane) {
  std::error_code ignored;
  path = std::filesystem::absolute(path, ignored).string();  // tests may change their working directory
  bool const is_in_folder = is_folder(path);
  std::string const folder = is_in_folder ? path : std::filesystem::path(path).parent_path().string();
  if (!is_no_file(path, name_kind(path)) && folder.find('%') == folder.npos && access(folder.c_str(), W_OK) != 0) {
    output_.write_note("report", cannot_open(variable, path, {errno, std::generic_category()}));
    return;
  }
  if (is_in_folder && is_xplane && folder.find("/plugins/profile/") == folder.npos) {
    path = recording::profile_path(path, recording::profile_run_of(Instant::now()), "%t", ".xplane.pb");
  } else if (is_in_folder) {
    path.append(path.ends_with('/') ? "%t" : "/%t").append(is_xplane ? ".xplane.pb" : ".pftrace");
  }
  bool const is_of_tests = path.find("%t") != path.npos;
  files_.push_back({variable, std::move(path), is_of_tests, is_xplane});
}

bool ProfileOutputs::has(bool of_tests) const noexcept {
  return std::any_of(files_.begin(), files_.end(),
                     [of_tests](File const& file) { return file.is_of_tests == of_tests; });
}

void ProfileOutputs::write(bool of_tests, std::function<recording::TraceSource()> const& source,
                           std::string const& test, Instant start) const {
  if (output_.is_in_forked_child()) return;
  for (File const& file : files_) {
    if (file.is_of_tests == of_tests) write(file, source(), test, start);
  }
}

void ProfileOutputs::write(File const& file, recording::TraceSource source, std::string const& test,
                           Instant start) const {
  std::string const path = filled_in(file.path, test);
  std::error_code error;
  if (file.is_xplane && file.is_of_tests)
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  CompleteFile made(path, name_kind(file.path));
  auto const out = [&made](std::string_view bytes) { made.write(bytes); };
  std::string const host = source.process;
  if (file.is_xplane) {
    recording::write_xplane(std::move(source), {.hostname = host, .start = start}, out);
  } else {
    recording::write_perfetto(std::move(source), out);
  }
  std::string const own = made.finish(error);
  if (error) {
    output_.write_note("report", std::string("testlog: ") + file.variable + "=" + path + ": could not be written: " +
                                     error.message() + "; expected a path that can be written to\n");
  } else if (own != path) {
    output_.write_note("report", std::string("testlog: ") + file.variable + ": " + path + " already exists; wrote " +
                                     own + " instead\n");
  }
}

}}}  // namespace tracing::v1::environment
