#include "tracing_core/environment/record_output.h"

#include <errno.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "tracing_core/environment/file_names.h"

namespace tracing::inline v1::internal {

std::unique_ptr<Region> open_recording(EnvOptions const& options, Output& output) {
  if (options.record.empty()) return nullptr;
  std::string path = options.record;
  if (is_folder(path)) path.append(path.ends_with('/') ? "" : "/").append(program_invocation_short_name).append(".rec");
  std::error_code error;
  path = filled_in(std::filesystem::absolute(path, error).string(), program_invocation_short_name);
  std::string const own = create_unique_file(path, error);
  std::unique_ptr<Region> region;
  if (!error) region = Region::make_file(own, options.record_limit, error);
  if (region == nullptr) {
    output.write_note("report", cannot_open("TRACE_RECORD", own, error));
  } else if (own != path) {
    output.write_note("report", "testlog: TRACE_RECORD: " + path + " already exists; writing " + own + " instead\n");
  }
  return region;
}

}  // namespace tracing::inline v1::internal
