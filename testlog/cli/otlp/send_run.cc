#include "testlog/cli/otlp/send_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/otlp_files.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/environment/variables.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli::otlp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tracing::Instant;
using tracing::support::counted;

constexpr Clock::duration kMaxTime = 10s, kMaxSending = 9s;  // the rest is for the sentence about a slow receiver

enum class Wanted : std::uint8_t { off, failed, all };

Wanted wanted_recordings() {
  char const* const set = tracing::environment::environment_variable("TRACE_OTLP");
  std::string const value = set == nullptr ? "" : set;
  if (value.empty() || value == "off") return Wanted::off;
  if (value == "failed") return Wanted::failed;
  if (value == "all") return Wanted::all;
  throw std::runtime_error("TRACE_OTLP=" + printable(value) + ": unknown value; expected one of off, failed, all");
}

struct RunRecording {
  Instant start;
  std::string path;
};

// Returns the recordings of a run. Unless all are wanted, leaves out those of processes that passed.
std::vector<RunRecording> recordings_of(RecordedRun const& run, Wanted wanted) {
  using tracing::recording::Folders;
  Attempts const attempts(run.folder);
  std::vector<RunRecording> recordings;
  std::set<Instant> starts;
  std::error_code error;
  for (std::string& path : tracing::recording::recordings_in(run.folder.string(), Folders::only_this, error)) {
    Attempts::Attempt const* const attempt = attempts.attempt_of(path);
    bool const is_of_run =
        attempt != nullptr && std::find(run.ids.begin(), run.ids.end(), attempt->run) != run.ids.end();
    auto const start = is_of_run ? start_of(path) : std::nullopt;
    if (!start || (wanted == Wanted::failed && attempt->passed == true)) continue;
    starts.insert(*start);
    recordings.push_back({*start, std::move(path)});
  }
  if (wanted == Wanted::failed) return recordings;
  for (TestOfRun const& test : attempts.tests_of(run)) {
    for (std::string& path : baseline_of((run.folder / test.recording).string())) {
      auto const start = start_of(path);
      bool const is_of_run =
          start && std::any_of(test.attempts.begin(), test.attempts.end(), [&start](Attempts::Attempt const& one) {
            return one.passed == true && one.began <= *start && *start <= one.ended;
          });
      if (is_of_run && starts.insert(*start).second) recordings.push_back({*start, std::move(path)});
    }
  }
  return recordings;
}

// Knows until when recordings of ctests were sent, by a file in the folder of the recordings. Each line has the id of a
// ctest and the time in nanoseconds.
class SentRuns {
 public:
  explicit SentRuns(std::filesystem::path const& folder) : path_((folder / "otlp_sent.log").string()) {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines_.push_back(std::move(line));
  }

  Instant until(std::string const& run) const {
    Instant last{INT64_MIN};
    for (std::string_view line : lines_) {
      Instant time;
      if (!line.starts_with(run + " ")) continue;
      line.remove_prefix(run.size() + 1);
      if (std::from_chars(line.data(), line.data() + line.size(), time.ns).ec == std::errc())
        last = std::max(last, time);
    }
    return last;
  }
  void add(std::string const& run, Instant until) {
    constexpr std::size_t kMaxLines = 100;
    lines_.push_back(run + " " + std::to_string(until.ns));
    OutputFile file(path_);
    for (std::size_t i = lines_.size() - std::min(lines_.size(), kMaxLines); i < lines_.size(); ++i)
      file.write(lines_[i] + "\n");
    if (auto const error = file.finish())
      throw std::runtime_error("cannot write " + printable(path_) + ": " + error.message());
  }

 private:
  std::string const path_;
  std::vector<std::string> lines_;
};

std::string nothing_since(std::string const& why) { return "nothing was sent by OTLP, since " + why + "\n"; }

bool is_set(char const* name) {
  char const* const value = variable(name);
  return value != nullptr && *value != 0;
}

// Reads where to send. If nothing can be sent, sets `why` to lines that say so.
Receivers read_receivers(Clock::time_point until, std::string& why) {
  Receivers receivers{.until = until};
  bool const with_traces = is_set("OTEL_EXPORTER_OTLP_ENDPOINT") || is_set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  bool const with_logs = is_set("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT");
  std::string reports;
  if (is_disabled(variable)) {
    why = nothing_since("OTEL_SDK_DISABLED is true");
  } else if (!with_traces && !with_logs) {
    why = nothing_since("OTEL_EXPORTER_OTLP_ENDPOINT is not set");
  } else if (!HttpSender::is_available()) {
    why = nothing_since("testlog was built without cpp-httplib (Debian: libcpp-httplib-dev)");
  } else {
    if (with_traces) receivers.traces = read_endpoint(Signal::traces, {}, variable, reports);
    if (with_logs) receivers.logs = read_endpoint(Signal::logs, {}, variable, reports);
    if (with_traces && !receivers.traces) why = nothing_since("the URL of the traces is bad");
    if (with_logs && !receivers.logs) why = nothing_since("the URL of the logs is bad");
  }
  report(reports);
  return receivers;
}

std::string text_of(Sent const& sent, Receivers const& receivers) {
  if (!sent.problems.empty()) return sent.problems;
  auto const place = [](Endpoint const& endpoint) { return " to " + endpoint.server + endpoint.path; };
  std::string text = "sent ";
  if (receivers.traces) text += counted(sent.spans, "span") + place(*receivers.traces);
  if (receivers.traces && receivers.logs) text += " and ";
  if (receivers.logs) text += counted(sent.records, "log record") + place(*receivers.logs);
  return text + ", of " + counted(sent.recordings, "recording") + "\n";
}

std::string send(std::vector<RecordedRun> const& runs, Wanted wanted, Clock::time_point until) {
  std::string why;
  Receivers const receivers = read_receivers(until, why);
  if (!why.empty()) return why;
  std::vector<RunRecording> recordings;
  for (RecordedRun const& run : runs)
    for (RunRecording& one : recordings_of(run, wanted)) recordings.push_back(std::move(one));
  if (recordings.empty())
    return nothing_since(wanted == Wanted::failed ? "no test that failed left a recording"
                                                  : "no test left a recording");
  SentRuns sent_runs(runs.front().folder);
  std::string const id = runs.front().ids.front();
  std::erase_if(recordings, [before = sent_runs.until(id)](RunRecording const& one) { return one.start <= before; });
  if (recordings.empty()) return nothing_since("this run was sent before");
  std::stable_sort(recordings.begin(), recordings.end(),
                   [](RunRecording const& a, RunRecording const& b) { return a.start < b.start; });
  OtlpOptions options{.command = "summary"};
  for (RunRecording const& one : recordings) options.recordings.push_back(one.path);
  Sent const sent = send_to(receivers, options);
  std::string text = text_of(sent, receivers);
  try {
    if (!sent.has_failed) sent_runs.add(id, recordings.back().start);
  } catch (std::exception const& error) {
    text += std::string(error.what()) + "\n";
  }
  return text;
}

// Calls `f` in a child process, which is killed at the time `until`: neither a name server nor a disk that does not
// answer can delay ctest any longer. Returns what `f` returned, or nothing if the child did not end by itself.
std::optional<std::string> call_in_child(Clock::time_point until, std::function<std::string()> const& f) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return f();
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = f();
    } catch (std::exception const& error) {
      text = std::string(error.what()) + "\n";
    }
    std::FILE* const out = fdopen(ends[1], "w");
    bool const is_written =
        out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  bool has_ended = child < 0;
  while (!has_ended) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{ends[0], POLLIN, 0};
    int const ready = left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    char bytes[4096];
    ssize_t const size = read(ends[0], bytes, sizeof(bytes));
    if (size > 0) text.append(bytes, static_cast<std::size_t>(size));
    has_ended = size == 0;
  }
  close(ends[0]);
  if (child < 0) return f();
  if (!has_ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return has_ended && WIFEXITED(status) ? std::optional(text) : std::nullopt;
}

}  // namespace

std::string send_run(std::vector<RecordedRun> const& runs) {
  Wanted const wanted = wanted_recordings();
  if (wanted == Wanted::off || runs.empty()) return {};
  auto const begin = Clock::now();
  auto const said = call_in_child(begin + kMaxTime, [&] { return send(runs, wanted, begin + kMaxSending); });
  bool const is_late = Clock::now() >= begin + kMaxTime;
  std::string_view lines = "sending by OTLP was ended after ten seconds\n";
  if (said) lines = *said;
  if (!said && !is_late) lines = "sending by OTLP ended by a signal\n";
  std::string text;
  for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1))
    text += "testlog: " + printable(lines.substr(0, end)) + "\n";
  return text;
}

}  // namespace testlog::cli::otlp
