#include "testlog/cli/otlp/otlp_files.h"

#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "testlog/cli/commands.h"
#include "testlog/cli/otlp/exporter.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/request_writer.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/profile/gzip.h"

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
    return [this](std::string_view request) {
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

void export_to(RequestWriter& writer, Recordings const& files, OtlpOptions const& options, OutputLimit& limit) {
  Exporter exporter(
      {.make_filter = [&options] { return filter_of("export", options.filter); }, .span_events = options.span_events},
      writer);
  std::string reports;
  for (auto const& file : files) {
    auto const each = [&](tracing::recording::Entry const& entry) {
      limit.check(*file);
      file->learn(entry);
    };
    exporter.add(*file->recording, file->path, each, reports);
  }
  exporter.finish();
  writer.flush();
  report(reports);
}

// Returns a function that sends requests, or null without a sender.
RequestWriter::Out out_of(std::optional<HttpSender>& sender) {
  if (!sender) return nullptr;
  return [&sender](std::string_view request) { sender->send(request); };
}

char const* variable(char const* name) noexcept { return std::getenv(name); }

// Returns each line with `testlog export: ` before it.
std::string with_command(std::string_view lines) {
  std::string all;
  for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1))
    all.append("testlog export: ").append(lines.substr(0, end + 1));
  return all;
}

}  // namespace

int write_files(Recordings const& files, OtlpOptions const& options, std::string const& traces,
                std::string const& logs) {
  OutputLimit limit;
  for (auto const& file : files) limit.add(*file);
  Lines trace_lines(traces, limit), log_lines(logs, limit);
  RequestWriter writer({json_encoding(), trace_lines.out()}, {json_encoding(), log_lines.out()});
  export_to(writer, files, options, limit);
  bool const has_traces = trace_lines.finish();
  return log_lines.finish() && has_traces ? kDone : kFailed;
}

int send(Recordings const& files, OtlpOptions const& options, std::string const& url) {
  if (is_disabled(variable)) {
    report("testlog export: nothing was sent, since OTEL_SDK_DISABLED is true\n");
    return kDone;
  }
  std::string reports;
  auto const of_traces = read_endpoint(Signal::traces, url, variable, reports);
  char const* const logs_url = variable("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT");
  bool const with_logs = logs_url != nullptr && *logs_url != 0 && !options.span_events;
  auto const of_logs = with_logs ? read_endpoint(Signal::logs, {}, variable, reports) : std::nullopt;
  report(reports);
  if (!of_traces || (with_logs && !of_logs)) return kBadUsage;
  if ((of_traces->is_compressed || (of_logs && of_logs->is_compressed)) && !tracing::recording::Gzip::is_available())
    throw UsageError("export: this program was built without zlib (Debian: zlib1g-dev), so it cannot compress");
  std::optional<HttpSender> traces, logs;
  traces.emplace(*of_traces, "spans");
  if (of_logs) logs.emplace(*of_logs, "log records");
  OutputLimit limit;
  for (auto const& file : files) limit.add(*file);
  auto const encoding_of = [](Endpoint const& endpoint) -> Encoding const& {
    return endpoint.is_json ? json_encoding() : protobuf_encoding();
  };
  RequestWriter writer({encoding_of(*of_traces), out_of(traces)},
                       {encoding_of(of_logs ? *of_logs : *of_traces), out_of(logs)});
  export_to(writer, files, options, limit);
  report(with_command(traces->problems() + (logs ? logs->problems() : "")));
  return traces->has_sent_all() && (!logs || logs->has_sent_all()) ? kDone : kFailed;
}

}  // namespace testlog::cli::otlp
