#include "testlog/perf_outputs.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <utility>

#include "testlog/file_names.h"
#include "testlog/perf.h"
#include "testlog/session.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/parse_error.h"

namespace testlog::inline v1 {
namespace {

bool is_of_tests(std::string const& path) { return path.find("%t") != path.npos; }

std::string cannot_open(std::string const& variable, std::string const& path, std::error_code const& error) {
  return "testlog: " + variable + "=" + path + " cannot be opened: " + error.message() +
         ". Nothing is written there; valid is a path that can be written to.\n";
}

std::string cannot_write(std::string const& variable, std::string const& path, std::error_code const& error) {
  return "testlog: " + variable + "=" + path + " cannot be written: " + error.message() + ". There is no such file.\n";
}

// Why a file at `path` could not be made, or nothing.
std::error_code trouble_with(std::string const& path) {
  if (path.ends_with('/')) return std::make_error_code(std::errc::is_a_directory);
  std::size_t const slash = path.rfind('/');
  std::string const folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  if (access(path.c_str(), W_OK) != 0 && access(folder.c_str(), W_OK) != 0) return {errno, std::generic_category()};
  return {};
}

unsigned count_forks() noexcept {
  tracing::internal::count_forks();
  return tracing::internal::fork_count();
}

// One that was reached, or null.
tracing::Metadata const* a_perf_span() {
  tracing::Metadata const* found = nullptr;
  tracing::visit_callsites(
      [](void* context, tracing::Metadata const& metadata) {
        auto& first = *static_cast<tracing::Metadata const**>(context);
        if (first == nullptr && metadata.is_perf() && metadata.is_span() && !metadata.parts().owned) first = &metadata;
      },
      &found);
  return found;
}

// A write that is too long for the file's limit is not to end the program.
void write_block(tracing::LineSink& file, std::string_view block) noexcept {
  tracing::internal::WithoutSignal signal(SIGXFSZ);
  file.write(tracing::Level::info, block);
  signal.take();
}

}  // namespace

// A file of lines, opened with its first one, another for each test where its path has a %t.
class PerfOutputs::LineFile final : public tracing::LineSink {
 public:
  LineFile(std::string path, Output& output) : path_(std::move(path)), output_(output) {}

  void write(tracing::Level level, std::string_view line) noexcept override {
    std::lock_guard const lock(mutex_);
    if (file_ == nullptr && !failed_) open(nullptr);
    if (file_ != nullptr) file_->write(level, line);
  }
  /// Opens it now, where it is one file; what goes wrong is added to `reports`.
  void open_early(std::string& reports) {
    std::lock_guard const lock(mutex_);
    if (!is_of_tests(path_)) open(&reports);
  }
  void set_test(std::string_view test) {
    if (!is_of_tests(path_)) return;
    std::lock_guard const lock(mutex_);
    test_ = test;
    if (file_ != nullptr) missing_ += file_->missing_lines();
    file_.reset();
  }
  void count_missing(std::uint64_t count) {
    std::lock_guard const lock(mutex_);
    missing_ += count;
  }
  void tell_missing() {
    std::lock_guard const lock(mutex_);
    std::uint64_t const of_file = file_ == nullptr ? 0 : file_->missing_lines();
    tell_missing_lines(output_.complaints(), "TRACE_PERF_JSON", path_, missing_ + of_file);
  }

 private:
  void open(std::string* reports) noexcept {
    try {
      std::error_code error;
      std::string const path = filled_in(path_, test_);
      file_ = tracing::FdSink::append_to(path, error, output_.complaints());
      if (file_ != nullptr) return;
      failed_ = true;
      std::string const text = cannot_open("TRACE_PERF_JSON", path, error);
      if (reports != nullptr) {
        *reports += text;
      } else {
        output_.write(text);
      }
    } catch (...) {  // without memory there is no file
    }
  }

  std::string const path_;
  Output& output_;
  std::mutex mutex_;
  std::string test_{kOutsideTests};
  std::shared_ptr<tracing::FdSink> file_;
  std::uint64_t missing_ = 0;  // in files that were closed, or for want of memory
  bool failed_ = false;
};

PerfOutputs::PerfOutputs(PerfSettings const& settings, Output& output, bool files, std::string& reports)
    : settings_(settings), output_(output), files_(files), forks_when_made_(count_forks()) {
  tracing::PerfOptions options;
  options.directives = settings.directives;
  options.report = settings.report;
  options.threshold = std::chrono::microseconds(settings.threshold_us);
  if (files && !settings.json.empty()) {
    json_ = std::make_shared<LineFile>(settings.json, output);
    json_->open_early(reports);
    options.json = tracing::to_sink(json_);
  }
  if (files && !settings.prometheus.empty() && !is_of_tests(settings.prometheus)) {
    std::string const path = filled_in(settings.prometheus, kOutsideTests);
    if (auto const error = trouble_with(path)) {
      reports += cannot_open("TRACE_PERF_PROM", path, error);
      prometheus_failed_ = true;
    }
  }
  std::vector<tracing::ParseError> errors;
  layer_ = tracing::perf_layer(std::move(options), &errors);
  for (auto const& error : errors) {
    reports.append("testlog: ").append(tracing::render(error, settings.directives, "TRACE_PERF")).append("\n");
  }
}

PerfOutputs::~PerfOutputs() = default;

bool PerfOutputs::is_elsewhere() const noexcept { return tracing::internal::fork_count() != forks_when_made_; }

void PerfOutputs::begin_test(std::string const& name) {
  test_ = name;
  at_begin_ = layer_.statistics->summary();
  if (json_ != nullptr && !is_elsewhere()) json_->set_test(name);
}

void PerfOutputs::end_test() {
  if (!is_elsewhere()) write_files(of_test(), test_, true);
  if (json_ != nullptr && !is_elsewhere()) json_->set_test(kOutsideTests);
  test_.clear();
  at_begin_ = {};
}

void PerfOutputs::print(std::string_view headline, tracing::PerfSummary const& summary) {
  if (summary.empty()) return;
  tracing::InlineTextBuffer<4096> text;
  text.append("---- how long perf spans took");
  text.append(headline);
  text.append(" ----\n");
  append_perf_table(text, summary);
  output_.write(text.view());
}

void PerfOutputs::print_test() {
  if (!settings_.summary || is_elsewhere()) return;
  printed_ = of_test();
  print(": " + test_, printed_);
}

void PerfOutputs::print_run() {
  if (!settings_.summary || is_elsewhere()) return;
  tracing::PerfSummary const run = layer_.statistics->summary();
  std::uint64_t counted = 0;
  for (tracing::PerfRow const& row : run.rows) counted += row.count;
  for (tracing::PerfRow const& row : printed_.rows) counted -= std::min(counted, row.count);
  if (counted > 0) print(", all tests", run);
}

void PerfOutputs::tell_if_none_was_selected(bool whole) {
  std::string const& directives = settings_.directives;
  bool const is_plain = directives.find_first_of("=[") == directives.npos;
  if (is_elsewhere() || (!whole && !is_plain) || !layer_.statistics->summary().empty()) return;
  std::vector<tracing::ParseError> told;
  if (tracing::EnvFilter::parse_lossy(directives, {}, &told).max_level_hint() == tracing::LevelFilter::off) return;
  tracing::Metadata const* const span = a_perf_span();
  if (span == nullptr) return;
  std::string text = "testlog: TRACE_PERF: \"" + directives + "\" selected none of the perf spans that ran, such as \"";
  text.append(span->name()).append("\" with the target \"").append(span->target()).append("\" and the level ");
  text.append(tracing::name(tracing::as_filter(span->level())));
  PerfSettings meant = settings_;
  meant.directives = "trace";
  if (is_plain) text.append("; did you mean \"").append(in_words(meant)).append("\"?");
  output_.write(text.append(is_plain ? " Valid" : ". Valid").append(" are off, on, summary, or directives.\n"));
}

void PerfOutputs::finish() {
  if (std::exchange(finished_, true) || is_elsewhere()) return;
  write_files(layer_.statistics->summary(), kOutsideTests, false);
  if (json_ != nullptr) json_->tell_missing();
}

// Those whose path has a %t at the end of each test, the others at the end of the run.
void PerfOutputs::write_files(tracing::PerfSummary const& summary, std::string_view test, bool with_tests) {
  if (!files_ || summary.empty()) return;
  if (json_ != nullptr && is_of_tests(settings_.json) == with_tests) {
    tracing::InlineTextBuffer<4096> text;
    append_perf_json(text, summary, tracing::Instant::now());
    if (text.truncated()) {
      json_->count_missing(summary.rows.size());
    } else {
      write_block(*json_, text.view());
    }
  }
  bool const has_prometheus = !settings_.prometheus.empty() && !prometheus_failed_;
  if (has_prometheus && is_of_tests(settings_.prometheus) == with_tests) write_prometheus(summary, test);
}

void PerfOutputs::write_prometheus(tracing::PerfSummary const& summary, std::string_view test) {
  tracing::InlineTextBuffer<4096> text;
  append_perf_prometheus(text, summary);
  std::string const path = filled_in(settings_.prometheus, test);
  std::error_code error;
  if (text.truncated()) error = std::make_error_code(std::errc::not_enough_memory);
  std::string const made = error ? path : make_whole_file(path, text.view(), error);
  if (error) {
    if (!std::exchange(prometheus_failed_, true)) output_.write(cannot_write("TRACE_PERF_PROM", path, error));
  } else if (made != path) {
    output_.write("testlog: TRACE_PERF_PROM: " + path + " is there already and stays as it is; this process writes " + made +
                  ".\n");
  }
}

tracing::PerfSummary perf_summary() {
  Session* const session = Session::get();
  return session == nullptr || session->perf() == nullptr ? tracing::PerfSummary() : session->perf()->of_test();
}

}  // namespace testlog::inline v1
