// write_profile(): writes the files of a profile to the folder where TensorBoard looks for them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/profile/profiler_options.h"
#include "tracing_core/profile/recorded_profile.h"
#include "tracing_core/support/open_file.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Returns the path as an absolute path, so that it names one file even if the program changes its current folder.
std::string absolute_path(std::string_view path);

/// Creates the folder `dir/plugins/profile`. Returns why the folder, or a file in it, cannot be created; empty if both
/// can.
std::string prepare_profile_folder(std::string const& dir);

/// Writes all files. A file that cannot be written stays absent or as it was, and `error` says why.
ProfileResult write_profile(RecordedProfile& profile, std::string const& dir, ProfilerOptions const& options);

using WriteText = std::function<void(std::string_view text)>;
/// Writes a file beside `path` and renames it, so that the file at `path` is complete or was not touched. With
/// FileName::given, a device or a pipe is written to directly. Returns why that failed, or an empty text. `content`
/// returns false if memory ran out, and the text is not whole.
std::string write_whole_file(std::string const& path, std::function<bool(WriteText const&)> const& content,
                             FileName name = FileName::given);

/// Returns the name of the running program; empty if it is not known.
std::string program_name();

/// Returns the statistics of the profile, as tables.
std::string tables_of(RecordedProfile& profile, std::size_t max_rows);

}}}  // namespace tracing::v1::internal
