// recordings_in(): finds recordings by their names.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tracing { inline namespace v1 { namespace recording {

/// The end of the name of a recording.
inline constexpr std::string_view kRecordingSuffix = ".rec";

enum class Folders : bool { only_this, also_below };

/// Returns the paths in `folder`, or also in the folders below it that may be read, whose names end with
/// kRecordingSuffix, sorted. They need not be files. If the folders cannot be read to their end, sets `error` and
/// returns the paths found so far.
std::vector<std::string> recordings_in(std::string const& folder, Folders folders, std::error_code& error);

}}}  // namespace tracing::v1::recording
