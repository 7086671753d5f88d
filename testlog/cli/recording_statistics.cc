#include "testlog/cli/recording_statistics.h"

#include <optional>
#include <utility>

#include "tracing_core/filter/combinators.h"

namespace testlog::cli {

RecordingStatistics::RecordingStatistics(std::string command, std::string filter, tracing::StatisticsBy by)
    : command_(std::move(command)), filter_(std::move(filter)), reader_(by), directives_(command_, filter_) {}

bool RecordingStatistics::add_all(Selection const& selection) {
  std::vector<std::string> const paths = files_of(command_, selection.inputs);
  bool is_good = true;
  Progress progress(command_, paths.size(), "recordings", false);  // the command prints nothing meanwhile
  for (std::string const& path : paths) {
    if (auto const file = open_recording(command_, path)) {
      add(*file, selection);
    } else {
      is_good = false;
    }
    progress.step();
  }
  return is_good;
}

void RecordingStatistics::add(OpenedRecording& file, Selection const& selection) {
  RecordedTests const tests = recorded_tests_of(*file.recording);
  bool is_wanted = !selection.is_narrow();
  for (auto const& [tag, test] : tests) {
    if (!selection.has(test)) continue;
    tests_.push_back(test);
    if (selection.is_narrow()) file.selected.emplace(tag, test.name);
    is_wanted = true;
  }
  if (!is_wanted) return;
  tracing::recording::StatisticsSource source(*file.recording);
  source.filter = filter_of(command_, filter_);
  source.each = [&file](tracing::recording::Entry const& entry) { file.learn(entry); };
  source.test_of = [&](std::uint32_t tag) -> std::optional<std::string> {
    auto const found = tests.find(tag);
    if (found != tests.end() && selection.has(found->second)) return found->second.name;
    return selection.is_narrow() || found != tests.end() ? std::nullopt : std::optional<std::string>("");
  };
  reader_.add(std::move(source));
  notes_ += notes_of(command_, file);
  directives_.add(file);
}

}  // namespace testlog::cli
