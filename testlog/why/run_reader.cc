#include "testlog/why/run_reader.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "testlog/why/divided_runs.h"
#include "testlog/why/run_builder.h"

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

struct Run {
  std::string test;
  RunBuilder builder;
  Run(std::string name, ComparedTest& compared) : test(std::move(name)), builder(compared) {}
  Run(std::string name, ComparedTest& compared, std::vector<RunFeatures> const& failing)
      : test(std::move(name)), builder(compared, failing) {}
};

// Reads the features of the runs in one recording.
class RunReader final : public DividedRuns<Run> {
 public:
  RunReader(ComparedTests& tests, Recording& recording, std::string const& file, bool is_failing,
            std::function<bool(std::string_view)> const& is_wanted, std::string_view unended, NameOfTest const& name_of)
      : DividedRuns(recording),
        tests_(tests),
        recording_(recording),
        file_(file),
        is_failing_(is_failing),
        is_wanted_(is_wanted),
        unended_(unended),
        name_of_(name_of) {}

 private:
  std::unique_ptr<Run> begin(std::string const& test) override {
    auto const found = tests_.find(test);
    if (is_failing_ ? !is_wanted_(test) : found == tests_.end()) return nullptr;
    ComparedTest& compared = is_failing_ ? tests_[test] : found->second;
    auto run =
        is_failing_ ? std::make_unique<Run>(test, compared) : std::make_unique<Run>(test, compared, compared.failing);
    run->builder.set_main_thread(main_thread());
    return run;
  }

  void see_process(Entry const& mark) override {
    command_ = text_of_field(mark, "command");
    framework_ = text_of_field(mark, "framework");
  }
  void see_mark(Run& run, std::string_view name, Entry const& mark) override {
    if (name == "failure" || name == "signal") fail(run.builder, mark.time);
  }

  void fail(RunBuilder& run, tracing::Instant time) {
    if (run.has_failed()) return;
    run.fail(time);
    for (auto const& [key, span] : open_) {
      if (span.run == &run) run.leave_open(span);
    }
  }

  void end(Run& run, RunEnd end) override {
    if (is_program()) end.result = is_failing_ ? "failed" : "passed";
    if (end.result.empty()) end.result = unended_;
    bool const has_failed = end.result.empty() || end.result == "failed";
    ComparedTest& test = tests_[run.test];
    if (has_failed == is_failing_ && end.result != "skipped") {
      fail(run.builder, end.time);
      RunFeatures features = run.builder.finish(end.time, end.result.empty() || is_program());
      features.file = file_;
      features.command = command_;
      features.framework = framework_;
      features.lost = end.lost;
      for (tracing::recording::Thread const& thread : recording_.threads())
        features.thread_names.emplace(thread.number, thread.name);
      (is_failing_ ? test.failing : test.passing).push_back(std::move(features));
    }
    for (auto& [key, span] : open_) {
      if (span.run == &run.builder) span.run = nullptr;
    }
  }

  // Returns the site of a span, which may have begun in another test or before all tests.
  SiteId site_of(RunBuilder& run, std::uint64_t span_key, unsigned max_parents = 64) {
    auto const found = span_key == 0 ? open_.end() : open_.find(span_key);
    if (found == open_.end()) return kNoSite;
    OpenSpan const& span = found->second;
    if (span.run == &run) return span.site;
    SiteId const around = max_parents == 0 ? kNoSite : site_of(run, span.parent, max_parents - 1);
    return run.sites().site_of(*span.metadata, around);
  }

  void see(Run& of, Entry const& entry) override {
    RunBuilder& run = of.builder;
    if (entry.type == EntryType::event || begins_span(entry.type)) last_of(entry.track) = entry.metadata;
    if (begins_span(entry.type)) {
      SiteId const site = run.sites().site_of(*entry.metadata, site_of(run, span_around(entry)));
      Moment const begin = run.begin_span(site, entry);
      open_[entry.span] = {entry.metadata, entry.parent, site, &run, begin, entry.type == EntryType::scope_begin};
    } else if (entry.type == EntryType::event) {
      run.add_event(run.sites().site_of(*entry.metadata, site_of(run, entry.span)), entry);
    } else if (leaves_span(entry.type) || ends_span(entry.type)) {
      leave_span(run, entry);
    } else if (entry.type == EntryType::values && !entry.is_restated()) {
      if (SiteId const site = site_of(run, entry.span); site != kNoSite) run.add_values(site, entry);
    } else if (entry.type == EntryType::state && !open_.contains(entry.span)) {
      open_[entry.span] = {entry.metadata, entry.parent, kNoSite, nullptr, {}};
    }
  }

  void leave_span(RunBuilder& run, Entry const& entry) {
    auto const found = open_.find(entry.span);
    if (found == open_.end()) return;
    bool const is_of_run = found->second.run == &run;
    if (is_of_run && entry.is_by_exception()) run.leave_by_exception(found->second.site, entry);
    OpenSpan& span = found->second;
    if (is_of_run && ends_span(entry.type)) run.end_span(span, entry);
    // A span of which there is a handle may end later, and elsewhere; its thread leaves it here.
    bool const leaves_scope = is_of_run && leaves_span(entry.type) && entry.track == span.begin.thread;
    if (leaves_scope && std::exchange(span.is_scope, false)) run.leave_scope(span.site, entry);
    if (ends_span(entry.type)) open_.erase(found);
  }

  void see_other(Entry const& entry, Run* late_during) override {
    if (entry.type != EntryType::event && !begins_span(entry.type)) return;
    tracing::Metadata const* const before = std::exchange(last_of(entry.track), entry.metadata);
    if (late_during == nullptr) return;
    SitesOfRecording& sites = late_during->builder.sites();
    SiteId const site_before = before == nullptr ? kNoSite : sites.site_of(*before, kNoSite);
    std::string test = test_of(entry.tag);
    if (test.empty() && name_of_) test = name_of_(entry.tag);
    late_during->builder.add_late(sites.site_of(*entry.metadata, kNoSite), site_before, test, entry);
  }

  // Returns the statement of the last record of a thread.
  tracing::Metadata const*& last_of(std::uint64_t thread) {
    if (last_site_ == nullptr || thread != last_thread_) last_site_ = &last_of_thread_[thread];
    last_thread_ = thread;
    return *last_site_;
  }

  ComparedTests& tests_;
  Recording& recording_;
  std::string const& file_;
  bool const is_failing_;
  std::function<bool(std::string_view)> const& is_wanted_;
  std::string_view const unended_;
  NameOfTest const& name_of_;
  std::string command_, framework_;
  std::unordered_map<std::uint64_t, OpenSpan> open_;
  std::unordered_map<std::uint64_t, tracing::Metadata const*> last_of_thread_;
  tracing::Metadata const** last_site_ = nullptr;  // of last_thread_
  std::uint64_t last_thread_ = 0;
};

}  // namespace

void add_failing_runs(ComparedTests& tests, Recording& recording, std::string const& file,
                      std::function<bool(std::string_view)> const& is_wanted, std::string_view unended,
                      NameOfTest const& name_of) {
  RunReader(tests, recording, file, true, is_wanted, unended, name_of).read();
  std::erase_if(tests, [](auto const& test) { return test.second.failing.empty(); });
}

void add_passing_runs(ComparedTests& tests, Recording& recording, std::string const& file) {
  RunReader(tests, recording, file, false, {}, {}, {}).read();
}

}  // namespace testlog::why
