#include "testlog/capture/recording_file.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/passed_recordings.h"
#include "tracing_core/environment/record_output.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/short_text.h"

namespace testlog { inline namespace v1 {
namespace {

bool has_test(std::string_view name) noexcept { return name.find("%t") != name.npos; }

bool is_of_googletest(std::string_view argument) noexcept {
  argument = tracing::support::without_leading(argument, "-/");
  return argument.starts_with("gtest_") || argument.starts_with("gmock_");
}

// Replaces %e by the name of the program. If the program has arguments of its own or runs a shard of the tests, adds a
// hash of the arguments and the shard.
std::string with_program(std::string name, internal::ProcessRole const& role) {
  std::size_t const place = name.find("%e");
  if (place == name.npos) return name;
  std::string program = program_invocation_short_name;
  std::uint64_t hash = 0;
  for (int i = 1; i < role.argc && role.argv[i] != nullptr; ++i) {
    if (!is_of_googletest(role.argv[i])) hash = tracing::support::hash_of(role.argv[i], hash + 1);
  }
  char const* const shards = std::getenv("GTEST_TOTAL_SHARDS");
  char const* const shard = std::getenv("GTEST_SHARD_INDEX");
  if (shards != nullptr && shard != nullptr && std::string_view(shards) != "1")
    hash = tracing::internal::hash_of(shard, hash + 1);
  std::array<char, 10> suffix{};
  if (hash != 0)
    std::snprintf(suffix.data(), suffix.size(), "~%08" PRIx32, static_cast<std::uint32_t>(hash ^ hash >> 32));
  return name.replace(place, 2, program + suffix.data());
}

}  // namespace

std::filesystem::path default_folder(Environment const& environment) {
  std::filesystem::path const place = environment.record_default;
  return !place.has_filename() || has_test(place.filename().native()) ? place.parent_path() : place;
}

std::unique_ptr<tracing::internal::Region> RecordingFile::open(Environment const& environment, Output& output,
                                                               internal::ProcessRole const& role,
                                                               tracing::environment::Run const& run) {
  tracing::Instant const began = tracing::Instant::now();
  is_default_ = environment.record.empty();
  std::string default_name;
  if (!environment.record_default.empty()) {
    default_name = std::filesystem::path(environment.record_default).filename();
    if (!has_test(default_name)) default_name = role.only_test.empty() ? "%e.rec" : "%e.%t.rec";
    default_name = with_program(default_name, role);
    default_name = tracing::environment::filled_in(
        default_name, role.only_test.empty() ? program_invocation_short_name : role.only_test);
  }
  tracing::environment::NewRecording file;
  if (!is_default_) {
    file = tracing::environment::open_recording(environment, output, role.only_test);
  } else if (!environment.record_default.empty() && !environment.capture_off) {
    file = tracing::environment::open_default_recording(default_folder(environment), default_name,
                                                        environment.record_limit, problem_);
  }
  keeps_all_ =
      environment.record_keep == RecordKeep::all || (environment.record_keep == RecordKeep::automatic && !is_default_);
  passed_ = static_cast<int>(environment.record_passed);
  forks_when_made_ = tracing::support::fork_count();
  if (file.region != nullptr) path_ = file.path;
  if (!environment.record_default.empty()) log_begin(environment, run, default_name, began);
  return std::move(file.region);
}

void RecordingFile::log_begin(Environment const& environment, tracing::environment::Run const& run,
                              std::string const& name, tracing::Instant time) {
  std::error_code error;
  run_ = run;
  folder_of_log_ = std::filesystem::absolute(default_folder(environment), error);
  name_in_log_ = name;
  tracing::environment::RunLog const log(folder_of_log_);
  // A ctest repeats a test at once, so its earlier attempts are near the end of the log.
  constexpr std::size_t kReadBytes = 64 * 1024;
  auto const attempts = log.attempts(name, kReadBytes);
  attempt_ = 1 + static_cast<int>(std::count_if(attempts.begin(), attempts.end(),
                                                [&run](auto const& attempt) { return attempt.run == run.id; }));
  log.begin(run_, name_in_log_, time);
}

std::vector<std::string> RecordingFile::passed_recordings() const {
  if (folder_of_log_.empty()) return {};
  return tracing::environment::passed_recordings(folder_of_log_, name_in_log_);
}

std::optional<tracing::Instant> RecordingFile::run_began() const {
  if (folder_of_log_.empty() || !run_.is_ctest) return std::nullopt;
  return tracing::environment::RunLog(folder_of_log_).first_of(run_);
}

void RecordingFile::finish() noexcept {
  if (forks_when_made_ != tracing::support::fork_count()) return;
  if (!folder_of_log_.empty())
    tracing::environment::RunLog(folder_of_log_).end(run_, name_in_log_, tracing::Instant::now(), !is_wanted_);
  if (path_.empty() || is_wanted_) return;
  if (has_run_ && is_default_ && !folder_of_log_.empty())
    tracing::environment::keep_passed(path_, folder_of_log_, name_in_log_, passed_);
  if (keeps_all_) return;
  unlink(path_.c_str());
  path_.clear();
}

}}  // namespace testlog::v1
