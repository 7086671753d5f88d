#include "tracing_core/environment/perf_outputs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/environment/unmatched.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/forwarding_filter.h"
#include "tracing_core/filter/parse_error.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

bool any_perf_span_ran() {
  bool found = false;
  visit_callsites(
      [](void* context, Metadata const& metadata) {
        *static_cast<bool*>(context) |= metadata.is_perf() && metadata.is_span() && !metadata.parts().owned;
      },
      &found);
  return found;
}

// Passes nothing unless a flag has the wanted value.
class SwitchedFilter final : public ForwardingFilter {
 public:
  SwitchedFilter(std::unique_ptr<Filter> filter, std::atomic<bool> const& flag, bool wanted)
      : BasicForwardingFilter(std::move(filter)), flag_(flag), wanted_(wanted) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return is_on() ? child().callsite_enabled(metadata) : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override { return is_on() && child().enabled(metadata); }
  bool enabled_now(Metadata const& metadata) noexcept override { return is_on() && child().enabled_now(metadata); }
  LevelFilter max_level_hint() const noexcept override { return is_on() ? child().max_level_hint() : LevelFilter::off; }

 private:
  bool is_on() const noexcept { return flag_.load(std::memory_order_relaxed) == wanted_; }

  std::atomic<bool> const& flag_;
  bool const wanted_;
};

// Appends an object for each row, with the member "test" unless `test` is empty.
void append_sums(TextBuffer& out, PerfSummary const& summary, std::string_view test) {
  Instant const now = Instant::now();
  for (PerfRow const& row : summary.rows) {
    append_perf_json(out, {.rows = {row}}, now);
    if (test.empty()) continue;
    if (JsonMembers members(out); members.is_open()) append_json_string(members.add("test"), test);
  }
}

}  // namespace

PerfOutputs::PerfOutputs(PerfSettings const& settings, Output& output, Use use)
    : settings_(settings),
      output_(output),
      files_(use.files && settings.any()),
      tests_(use.tests),
      append_members_(std::move(use.append_members)) {
  PerfOptions options;
  options.threshold = std::chrono::microseconds(settings.threshold_us);
  if (files_ && !settings.json.empty()) {
    json_ = std::make_shared<LineFile>("TRACE_PERF_JSON", settings.json, output);
    if (!is_per_test(settings.json)) json_->open();
    options.json = to_sink(json_);
  }
  if (tests_) add_layer(options, true);
  if (!settings.any()) return;
  options.directives = settings.directives;
  options.report = settings.report;
  add_layer(std::move(options), false);
}

void PerfOutputs::add_layer(PerfOptions options, bool of_tests) {
  std::vector<ParseError> reported;  // set_perf() has printed these errors
  PerfLayer made = perf_layer(std::move(options), sums_, &reported, append_members_);
  made.filter = std::make_unique<SwitchedFilter>(std::move(made.filter), all_are_on_, of_tests);
  layers_.push_back(std::move(made));
}

void PerfOutputs::turn_all_on(bool on) {
  if (all_are_on_.exchange(on, std::memory_order_relaxed) != on) rebuild_interest();
}

void PerfOutputs::begin_test(std::string const& name, bool all) {
  turn_all_on(all);
  test_ = name;
  at_begin_ = sums_->summary();
  if (json_ != nullptr) json_->set_test(name);
}

void PerfOutputs::end_test() {
  if (!output_.is_in_forked_child()) write_files(of_test(), test_, true);
  if (json_ != nullptr) json_->set_test({});
  turn_all_on(false);
  test_.clear();
  at_begin_ = {};
}

void PerfOutputs::print(std::string_view headline, PerfSummary const& summary, std::string_view test) {
  if (summary.empty()) return;
  InlineTextBuffer<4096> text;
  if (output_.writes_tables_as_json()) {
    append_sums(text, summary, test);
    return output_.write(text.view());
  }
  text.append("---- perf spans");
  text.append(headline);
  text.append(" ----\n");
  append_perf_table(text, summary);
  output_.write_note("perf", text.view());
}

void PerfOutputs::print_test() {
  if (!settings_.summary || output_.is_in_forked_child()) return;
  printed_ = of_test();
  print(": " + test_, printed_, test_);
}

void PerfOutputs::print_run() {
  if (!settings_.summary || output_.is_in_forked_child()) return;
  PerfSummary const run = sums_->summary();
  std::uint64_t counted = 0;
  for (PerfRow const& row : run.rows) counted += row.count;
  for (PerfRow const& row : printed_.rows) counted -= std::min(counted, row.count);
  if (counted > 0) print(tests_ ? ", all tests" : "", run, {});
}

void PerfOutputs::report_if_none_was_measured(bool ran_all) {
  if (!settings_.any() || output_.is_in_forked_child() || !sums_->summary().empty()) return;
  if (!any_perf_span_ran()) {
    if (settings_.is_set && settings_.summary) {
      output_.write_note(
          "report",
          "testlog: TRACE_PERF=summary: no perf span ran; TRACE_PERF(\"name\"); at the start of a block measures it\n");
    }
    return;
  }
  std::string const& directives = settings_.directives;
  bool const is_plain = directives.find_first_of("=[") == directives.npos;
  EnvFilter const filter = filter_of(directives);
  if (filter.max_level_hint() == LevelFilter::off) return;
  if (!ran_all && !is_plain) return report_unmatched(output_, Unmatched::near, "TRACE_PERF", filter);
  output_.write_note("report", "testlog: TRACE_PERF=" + directives +
                                   ": matched none of the perf spans that ran (default level: debug); expected off, "
                                   "on, summary, or directives\n");
}

void PerfOutputs::finish() {
  if (std::exchange(finished_, true) || output_.is_in_forked_child()) return;
  write_files(sums_->summary(), output_.outside_tests(), false);
  if (json_ != nullptr) json_->report_missing();
}

// Files with a %t in their path are written at the end of each test, other files at the end of the run. A program
// without tests has only files of the run; there %t is the program's name.
bool PerfOutputs::is_per_test(std::string const& path) const { return tests_ && path.find("%t") != path.npos; }

void PerfOutputs::write_files(PerfSummary const& summary, std::string_view test, bool per_test) {
  if (!files_ || summary.empty()) return;
  if (json_ != nullptr && is_per_test(settings_.json) == per_test) {
    InlineTextBuffer<4096> text;
    append_sums(text, summary, per_test ? test : std::string_view());
    json_->write(Level::info, text.view());
  }
  bool const has_prometheus = !settings_.prometheus.empty() && !prometheus_failed_;
  if (has_prometheus && is_per_test(settings_.prometheus) == per_test) write_prometheus(summary, test);
}

void PerfOutputs::write_prometheus(PerfSummary const& summary, std::string_view test) {
  InlineTextBuffer<4096> text;
  append_perf_prometheus(text, summary);
  std::string const path = filled_in(settings_.prometheus, test);
  std::error_code error;
  std::string const made = create_complete_file(path, text.view(), error, name_kind(settings_.prometheus));
  if (error) {
    if (std::exchange(prometheus_failed_, true)) return;
    output_.write_note("report", "testlog: TRACE_PERF_PROM=" + path + ": could not be written: " + error.message() +
                                     "; no file was created\n");
  } else if (made != path) {
    output_.write_note("report",
                       "testlog: TRACE_PERF_PROM: " + path + " already exists; writing " + made + " instead\n");
  }
}

}}}  // namespace tracing::v1::environment
