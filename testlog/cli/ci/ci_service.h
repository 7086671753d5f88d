// CiService: the CI service for which a run is reported, and the texts that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace testlog::cli {

enum class CiService : std::uint8_t { none, github, gitlab, azure, teamcity, buildkite };

struct CiSettings {
  CiService service = CiService::none;
  std::string root{};      ///< paths of sources are reported relative to this folder; empty: no paths are reported
  std::string artifact{};  ///< of TRACE_CI_ARTIFACT: its name; empty: none is named
  std::string url{};       ///< of the job or build; empty if the service does not tell
  std::string summary{};   ///< GitHub appends this file to the page of the job
};

/// Returns the service that `wanted` names or, if that is empty, TRACE_CI: `auto`, `off`, or a name. Reads the other
/// variables, too. Throws std::runtime_error if there is no such service.
CiSettings ci_settings(std::string const& wanted = {});

/// Returns a path of a source file, as the compiler knew it, relative to `root`; empty if the file is not below it. The
/// compiler may have known it by a path relative to a build folder, `../../pool.cc`: then it must exist below `root`.
std::string path_in_repository(std::string const& file, std::string const& root);

/// Returns the text with `#` as `\x23` after another `#`, so that no `##[`, `##vso[` or `##teamcity[` is left, which
/// services take for commands in the middle of a line, too.
std::string without_commands(std::string_view text);

// ---- values in commands ----

/// The kind of a value in a command of a service.
enum class CiValue : std::uint8_t { github_message, github_property, azure_message, azure_property, teamcity };

/// Returns a text as the value of a command, at most `max_bytes` with all escapes; a longer one ends with `...`.
/// Escapes what could end the value. Line ends stay line ends of the value; other control characters become `\x1b`,
/// and bytes that are not UTF-8 `\xff`.
std::string escaped(std::string_view text, CiValue kind, std::size_t max_bytes = 4096);

}  // namespace testlog::cli
