// profile_path(): the path at which xprof and TensorBoard look for a profile in a folder.
#pragma once

#include <string>
#include <string_view>

#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace recording {

// Returns the name of a run that began at `time`, in local time: `2026_01_31_23_59_59`.
std::string profile_run_of(Instant time);

// Returns the name of a run or host for use in paths. `/`, `:` and NUL become `_`; viewers take the part before a colon
// for something else. A name of more than 200 bytes is cut, and ends in a hash of the whole name.
std::string profile_name_of(std::string_view name);

// Returns `<folder>/plugins/profile/<run>/<host><suffix>`, with profile_name_of(host) as the host.
std::string profile_path(std::string_view folder, std::string_view run, std::string_view host, std::string_view suffix);

}}}  // namespace tracing::v1::recording
