// write_profile(): the files of a profile, in the folder where TensorBoard looks for them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/internal/open_file.h"
#include "tracing_core/profile/recorded_profile.h"

namespace tracing::inline v1::internal {

/// The same file wherever the program changes its folder to.
std::string absolute_path(std::string_view path);

/// Creates the folder `dir/plugins/profile`. Returns a sentence if that is impossible, or if no file could be made there.
std::string prepare_profile_folder(std::string const& dir);

/// Writes all files. A file that cannot be written is absent, or as it was; then `error` says why.
ProfileResult write_profile(RecordedProfile& profile, std::string const& dir, ProfilerOptions const& options);

using WriteText = std::function<void(std::string_view text)>;
/// Writes beside `path` and renames, so that the file is complete or was not touched; but a device or a pipe of a given name is
/// written to directly. Returns a sentence, or nothing. `content` returns false if it is not whole because memory ran out.
std::string write_whole_file(std::string const& path, std::function<bool(WriteText const&)> const& content,
                             FileName name = FileName::given);

/// Of the running program; empty if it is not known.
std::string program_name();

/// What the profile adds up to, as tables.
std::string tables_of(RecordedProfile& profile, std::size_t max_rows);

}  // namespace tracing::inline v1::internal
