#include "tracing_core/environment/record_output.h"

#include <errno.h>
#include <fcntl.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/environment/file_names.h"
#include "tracing_core/record/decode/recording_files.h"

namespace tracing { inline namespace v1 { namespace environment {

NewRecording open_recording(EnvOptions const& options, Output& output, std::string_view test) {
  if (options.record.empty() || options.record == "off") return {};
  std::string path = options.record;
  FileName const name = is_folder(path) ? FileName::formed : name_kind(path);
  if (is_folder(path))
    path.append(path.ends_with('/') ? "" : "/")
        .append(program_invocation_short_name)
        .append(recording::kRecordingSuffix);
  std::error_code error;
  path =
      filled_in(std::filesystem::absolute(path, error).string(), test.empty() ? program_invocation_short_name : test);
  auto const [own, descriptor] = create_unique_file(path, name, O_RDWR, error);
  std::unique_ptr<internal::Region> region;
  if (!error) region = internal::Region::make_file(descriptor, own, options.record_limit, error);
  if (region == nullptr) {
    output.write_note("report", cannot_open("TRACE_RECORD", own, error));
  } else if (own != path) {
    output.write_note("report", "testlog: TRACE_RECORD: " + path + " already exists; writing " + own + " instead\n");
  }
  return {std::move(region), own};
}

NewRecording open_default_recording(std::string const& folder, std::string const& name, std::uint64_t limit_bytes,
                                    std::string& error) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  std::string path = std::filesystem::absolute(folder, code).string() + "/" + name;
  keep_failed_attempt(folder, name);
  auto region = internal::Region::make_file(path, limit_bytes, code, internal::Region::Existing::replace);
  if (code == std::errc::file_exists) {
    auto const [own, descriptor] = create_unique_file(path, FileName::formed, O_RDWR, code);
    path = own;
    if (!code) region = internal::Region::make_file(descriptor, own, limit_bytes, code);
  }
  if (region == nullptr) error = cannot_open("TRACE_RECORD_DEFAULT", path, code);
  return {std::move(region), path};
}

}}}  // namespace tracing::v1::environment
