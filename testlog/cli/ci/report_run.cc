#include "testlog/cli/ci/report_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>

#include "testlog/cli/ci/job_summary.h"
#include "testlog/cli/output_file.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/open_file.h"

namespace testlog::cli {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1000} << 10;

std::error_code last_error() { return {errno, std::generic_category()}; }

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void check(std::error_code const& error, std::string const& path) {
  if (error) throw std::runtime_error("cannot write " + tracing::sanitized_in_line(path) + ": " + error.message());
}

// Writes the job summary for a service that reads it from a file of our own. Returns the path.
std::string write_summary(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(run.folder, error);
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();  // of a TAR
  std::string const path = (folder / "ci_summary.md").string();
  OutputFile file(path);
  file.write(job_summary(run, settings, report_of));
  check(file.finish(), path);
  return path;
}

}  // namespace

std::error_code append_summary(std::string const& path, std::function<std::string(std::size_t max_bytes)> const& make) {
  int const file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return last_error();
  std::error_code error;
  struct stat status {};
  if (flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0) {
    error = last_error();
  } else {
    auto const size = static_cast<std::size_t>(status.st_size);
    std::string const text = make(std::min(kMaxSummaryBytes, kMaxFileBytes - std::min(kMaxFileBytes, size)));
    if (!write_all(file, text)) error = last_error();
  }
  close(file);
  return error;
}

std::string report_to_ci(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of) {
  if (run.is_green() || settings.service == CiService::none) return {};
  std::string lines = annotations_of(run, settings, report_of, std::time(nullptr));
  if (settings.service == CiService::github && !settings.summary.empty()) {
    check(append_summary(settings.summary,
                         [&](std::size_t max_bytes) { return job_summary(run, settings, report_of, max_bytes); }),
          settings.summary);
  } else if (settings.service == CiService::azure) {
    lines +=
        "##vso[task.uploadsummary]" + escaped(write_summary(run, settings, report_of), CiValue::azure_message) + "\n";
  } else if (settings.service == CiService::buildkite) {
    lines += "testlog: for the page of the build: buildkite-agent annotate --style error --context testlog <" +
             summary::shell_word(write_summary(run, settings, report_of)) + "\n";
  }
  return lines;
}

}  // namespace testlog::cli
