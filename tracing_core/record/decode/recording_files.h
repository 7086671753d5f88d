// recordings_in(): finds recordings by their names, in folders and in TARs.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tracing { inline namespace v1 { namespace recording {

/// The end of the name of a recording, and of a compressed one.
inline constexpr std::string_view kRecordingSuffix = ".rec", kCompressedSuffix = ".rec.gz";

enum class Folders : bool { only_this, also_below };

/// Returns the paths in `folder`, or also in the folders below it that may be read, whose names are those of
/// recordings, sorted. They need not be files. If the folders cannot be read to their end, sets `error` and returns the
/// paths found so far.
std::vector<std::string> recordings_in(std::string const& folder, Folders folders, std::error_code& error);

/// Returns true if a file is a TAR.
bool is_tar(std::string const& path);
/// Returns the recordings in a TAR, as `run.tar/NAME.rec`, sorted. If the TAR is damaged, sets `problem` and returns
/// those before the damage. REQUIRES: is_tar(path).
std::vector<std::string> recordings_in_tar(std::string const& path, std::string& problem);

/// Returns the file's name without `.rec` or `.rec.gz`, or else without its extension.
std::string name_of_recording(std::string const& path);

}}}  // namespace tracing::v1::recording
