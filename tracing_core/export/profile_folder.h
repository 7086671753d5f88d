// Where xprof and TensorBoard look for profiles in a folder.
#pragma once

#include <string>
#include <string_view>

#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

// The name of a run that began then, in local time: `2026_01_31_23_59_59`.
std::string profile_run_of(Instant time);

// The name of a run or host in paths: `/` and `:` become `_`, since viewers take what is before a colon for something else. Of
// a name of more than 200 bytes the end is a hash of it.
std::string profile_name_of(std::string_view name);

// `<folder>/plugins/profile/<run>/<host><suffix>`, with profile_name_of() the host.
std::string profile_path(std::string_view folder, std::string_view run, std::string_view host, std::string_view suffix);

}  // namespace tracing::inline v1::internal
