#include "testlog/cli/otlp/otlp_files.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

#include "testlog/cli/commands.h"
#include "testlog/cli/otlp/exporter.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/request_writer.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/terminal.h"

namespace testlog::cli::otlp {
namespace {

// A file of requests, or no file.
class Lines {
 public:
  Lines(std::string path, OutputLimit& limit) : path_(std::move(path)), limit_(limit) {
    if (!path_.empty()) file_ = std::make_unique<OutputFile>(path_);
  }

  RequestWriter::Out out() {
    if (file_ == nullptr) return nullptr;
    return [this](std::string_view request, std::size_t) {
      limit_.spend(request.size());
      file_->write(request);
      file_->write("\n");
    };
  }
  // Returns false, and reports why, if not everything could be written.
  bool finish() {
    std::error_code const error = file_ == nullptr ? std::error_code() : file_->finish();
    if (!error) return true;
    report("testlog export: cannot write " + (path_ == "-" ? "standard output" : printable(path_)) + ": " +
           error.message() + "\n");
    return false;
  }

 private:
  std::string const path_;
  OutputLimit& limit_;
  std::unique_ptr<OutputFile> file_;
};

// Exports the recordings. Stops before the next recording once `is_done` returns true. Returns how many it exported.
std::uint64_t export_to(RequestWriter& writer, OtlpOptions const& options, OutputLimit& limit, bool& is_complete,
                        std::function<bool()> const& is_done) {
  Exporter exporter({.make_filter = [&options] { return filter_of(options.command, options.filter); },
                     .span_events = options.span_events},
                    writer);
  std::string reports, repeated;  // each recording is about the same variables
  std::uint64_t count = 0;
  for (std::string const& path : options.recordings) {
    if (is_done()) break;
    auto const file = open_recording(options.command, path);
    is_complete = is_complete && file != nullptr;
    if (file == nullptr) continue;
    limit.add(*file);
    auto const each = [&](tracing::recording::Entry const& entry) {
      limit.check(*file);
      file->learn(entry);
    };
    exporter.add(*file->recording, path, each, count == 0 ? reports : repeated);
    if (options.each != nullptr) options.each(*file);
    ++count;
  }
  exporter.finish();
  writer.flush();
  report(reports);
  return count;
}

// Returns a function that sends requests, or null without a sender.
RequestWriter::Out out_of(std::optional<HttpSender>& sender) {
  if (!sender) return nullptr;
  return [&sender](std::string_view request, std::size_t items) { sender->send(request, items); };
}

Encoding const& encoding_of(std::optional<Endpoint> const& endpoint) {
  return endpoint && endpoint->is_json ? json_encoding() : protobuf_encoding();
}

}  // namespace

char const* variable(char const* name) noexcept { return std::getenv(name); }

std::string with_command(std::string const& command, std::string_view lines) {
  std::string all;
  for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1))
    all.append("testlog ").append(command).append(": ").append(lines.substr(0, end + 1));
  return all;
}

int write_files(OtlpOptions const& options, std::string const& traces, std::string const& logs) {
  OutputLimit limit;
  Lines trace_lines(traces, limit), log_lines(logs, limit);
  RequestWriter writer({json_encoding(), trace_lines.out()}, {json_encoding(), log_lines.out()});
  bool is_complete = true;
  (void)export_to(writer, options, limit, is_complete, [] { return false; });
  bool const has_traces = trace_lines.finish();
  return log_lines.finish() && has_traces && is_complete ? kDone : kFailed;
}

Sent send_to(Receivers const& receivers, OtlpOptions const& options) {
  std::optional<HttpSender> traces, logs;
  if (receivers.traces) traces.emplace(*receivers.traces, "spans", receivers.until);
  if (receivers.logs) logs.emplace(*receivers.logs, "log records", receivers.until);
  auto const can_send = [](std::optional<HttpSender> const& sender) { return sender && !sender->has_failed(); };
  OutputLimit limit;
  RequestWriter writer({encoding_of(receivers.traces), out_of(traces)}, {encoding_of(receivers.logs), out_of(logs)});
  Sent sent;
  sent.recordings =
      export_to(writer, options, limit, sent.is_complete, [&] { return !can_send(traces) && !can_send(logs); });
  for (std::optional<HttpSender> const* const sender : {&traces, &logs}) {
    if (!*sender) continue;
    (sender == &traces ? sent.spans : sent.records) = (*sender)->sent();
    sent.is_complete = sent.is_complete && (*sender)->has_sent_all();
    sent.has_failed = sent.has_failed || (*sender)->has_failed();
    sent.problems += (*sender)->problems();
  }
  return sent;
}

int send(OtlpOptions const& options, std::string const& url) {
  if (is_disabled(variable)) {
    report("testlog export: nothing was sent, since OTEL_SDK_DISABLED is true\n");
    return kDone;
  }
  std::string reports;
  Receivers receivers{.traces = read_endpoint(Signal::traces, url, variable, reports)};
  char const* const logs_url = variable("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT");
  bool const with_logs = logs_url != nullptr && *logs_url != 0 && !options.span_events;
  if (with_logs) receivers.logs = read_endpoint(Signal::logs, {}, variable, reports);
  report(reports);
  if (!receivers.traces || (with_logs && !receivers.logs)) return kBadUsage;
  Sent const sent = send_to(receivers, options);
  report(with_command(options.command, sent.problems));
  return sent.is_complete ? kDone : kFailed;
}

}  // namespace testlog::cli::otlp
