#include "testlog/cli/ci/ci_service.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tracing_core/environment/ci.h"
#include "tracing_core/environment/variables.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, CiService> kServices[] = {
    {"github", CiService::github},     {"gitlab", CiService::gitlab},       {"azure", CiService::azure},
    {"teamcity", CiService::teamcity}, {"buildkite", CiService::buildkite}, {"off", CiService::none},
    {"cdash", CiService::none},  // whose files test programs write
};

std::string variable(char const* name) {
  char const* const value = tracing::environment::environment_variable(name);
  return value == nullptr ? "" : value;
}

std::optional<CiService> service_of(std::string_view name) {
  for (auto const& [known, service] : kServices)
    if (name == known) return service;
  return std::nullopt;
}

// Returns the folder of the repository: what the service says or, without a service, the folder above the current one
// that has `.git`.
std::string repository() {
  std::error_code error;
  for (char const* const name : {"TRACE_CI_ROOT", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY",
                                 "BUILDKITE_BUILD_CHECKOUT_PATH"})
    if (std::string const value = variable(name); !value.empty()) return fs::absolute(value, error).lexically_normal();
  for (fs::path folder = fs::current_path(error); !error && folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / ".git", error)) return folder.string();
  return {};
}

// The characters of a value that have another form in a command.
struct Escape {
  char character;
  std::string_view form;
};
constexpr Escape kGithubMessage[] = {{'%', "%25"}, {'\n', "%0A"}};
constexpr Escape kGithubProperty[] = {{'%', "%25"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}};
constexpr Escape kAzureMessage[] = {{'%', "%AZP25"}, {'\n', "%0A"}};
constexpr Escape kAzureProperty[] = {{'%', "%AZP25"}, {'\n', "%0A"}, {';', "%3B"}, {']', "%5D"}};
constexpr Escape kTeamcity[] = {{'|', "||"}, {'\'', "|'"}, {'\n', "|n"}, {'[', "|["}, {']', "|]"}};

template <std::size_t kCount>
std::string_view form_of(char c, Escape const (&escapes)[kCount]) {
  for (Escape const& escape : escapes)
    if (escape.character == c) return escape.form;
  return {};
}

std::string_view form_of(char c, CiValue kind) {
  switch (kind) {
    case CiValue::github_message: return form_of(c, kGithubMessage);
    case CiValue::github_property: return form_of(c, kGithubProperty);
    case CiValue::azure_message: return form_of(c, kAzureMessage);
    case CiValue::azure_property: return form_of(c, kAzureProperty);
    case CiValue::teamcity: return form_of(c, kTeamcity);
  }
  return {};
}

// Sanitizes each line by itself.
std::string sanitized_lines(std::string_view text) {
  std::string lines;
  for (;;) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines += tracing::sanitized_in_line(line);
    if (end == text.size()) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

CiSettings ci_settings(std::string const& wanted) {
  std::string name = wanted.empty() ? variable("TRACE_CI") : wanted;
  CiSettings settings;
  tracing::environment::CiJob const job = tracing::environment::ci_job();
  if (name.empty() || name == "auto") {
    settings.service = service_of(job.service).value_or(CiService::none);
  } else if (auto const service = service_of(name)) {
    settings.service = *service;
  } else {
    throw std::runtime_error((wanted.empty() ? "TRACE_CI=" : "--as=") + tracing::sanitized_in_line(name) +
                             ": no such service; expected one of auto, github, gitlab, azure, teamcity, buildkite, "
                             "cdash, off");
  }
  settings.root = repository();
  settings.artifact = variable("TRACE_CI_ARTIFACT");
  settings.url = job.url;
  settings.summary = variable("GITHUB_STEP_SUMMARY");
  return settings;
}

std::string path_in_repository(std::string const& file, std::string const& root) {
  if (file.empty() || root.empty()) return {};
  fs::path const normal = fs::path(file).lexically_normal();
  std::error_code error;
  if (normal.is_absolute()) {
    std::string const path = normal.lexically_relative(fs::path(root + "/").lexically_normal()).string();
    return path == "." || path == ".." || path.starts_with("../") ? "" : path;
  }
  std::string_view path = normal.native();  // relative to a build folder that is somewhere below the root
  while (path.starts_with("../")) path.remove_prefix(3);
  return fs::is_regular_file(fs::path(root) / path, error) ? std::string(path) : "";
}

std::string without_commands(std::string_view text) {
  std::string out;
  for (char const c : text) c == '#' && out.ends_with('#') ? out += "\\x23" : out += c;
  return out;
}

std::string escaped(std::string_view text, CiValue kind, std::size_t max_bytes) {
  constexpr std::string_view kEnd = "...";
  std::string const safe = without_commands(sanitized_lines(text.substr(0, max_bytes + 1)));
  bool const is_cut = text.size() > max_bytes;
  std::string out;
  std::size_t fits = 0;  // so many bytes of `out` end before a character and leave room for kEnd
  for (char const c : safe) {
    bool const continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues && out.size() + kEnd.size() <= max_bytes) fits = out.size();
    std::string_view const form = form_of(c, kind);
    form.empty() ? out += c : out += form;
    if (out.size() > max_bytes) break;
  }
  if (out.size() <= max_bytes && !is_cut) return out;
  out.resize(fits);
  return out.append(kEnd.substr(0, max_bytes));
}

}  // namespace testlog::cli
