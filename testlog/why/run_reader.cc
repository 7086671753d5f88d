#include "testlog/why/run_reader.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "testlog/why/run_builder.h"
#include "tracing_core/record/tests.h"

namespace testlog::why {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

// Reads the runs of one recording.
class RunReader {
 public:
  RunReader(ComparedTests& tests, Recording& recording, std::string const& file, bool is_failing,
            std::function<bool(std::string_view)> const& is_wanted)
      : tests_(tests), recording_(recording), file_(file), is_failing_(is_failing), is_wanted_(is_wanted) {}

  void read() {
    if (!recording_.has(EntryType::mark)) begin_run(0, "");
    is_whole_ = !runs_.empty();
    recording_.for_each([this](Entry const& entry) {
      last_ = entry.time;
      if (entry.type == EntryType::mark) return see_mark(entry);
      if (RunBuilder* const run = run_of(entry.tag)) see(*run, entry);
    });
    while (!runs_.empty()) end_run(runs_.begin()->first, is_whole_ ? (is_failing_ ? "failed" : "passed") : "");
  }

 private:
  struct Run {
    std::string test;
    RunBuilder builder;
    Run(std::string name, ComparedTest& compared) : test(std::move(name)), builder(compared) {}
    Run(std::string name, ComparedTest& compared, std::vector<RunFeatures> const& failing)
        : test(std::move(name)), builder(compared, failing) {}
  };

  RunBuilder* run_of(std::uint32_t tag) {
    if (is_whole_) tag = 0;
    if (known_ == nullptr || known_tag_ != tag) {
      auto const found = runs_.find(tag);
      known_ = found == runs_.end() ? nullptr : &found->second->builder;
      known_tag_ = tag;
    }
    return known_;
  }

  void begin_run(std::uint32_t tag, std::string const& test) {
    if (runs_.contains(tag)) end_run(tag, "");
    auto const found = tests_.find(test);
    if (is_failing_ ? !is_wanted_(test) : found == tests_.end()) return;
    ComparedTest& compared = is_failing_ ? tests_[test] : found->second;
    runs_[tag] =
        is_failing_ ? std::make_unique<Run>(test, compared) : std::make_unique<Run>(test, compared, compared.failing);
    runs_[tag]->builder.set_main_thread(main_thread());
    known_ = nullptr;
  }

  std::uint64_t main_thread() const noexcept {
    for (tracing::recording::Thread const& thread : recording_.threads()) {
      if (thread.os_thread == static_cast<std::int64_t>(recording_.process())) return thread.number;
    }
    return 0;
  }

  void see_mark(Entry const& mark) {
    std::string_view const name = mark.metadata->name();
    if (name == "process") command_ = text_of_field(mark, "command");
    if (name == "test_begin") return begin_run(mark.tag, text_of_field(mark, "test"));
    auto const found = runs_.find(mark.tag);
    if (found == runs_.end() || text_of_field(mark, "test") != found->second->test) return;
    if (name == "test_end") return end_run(mark.tag, text_of_field(mark, "result"));
    if (name == "failure" || name == "signal") fail(found->second->builder, mark.time);
  }

  void fail(RunBuilder& run, tracing::Instant time) {
    if (run.has_failed()) return;
    run.fail(time);
    for (auto const& [key, span] : open_) {
      if (span.run == &run) run.leave_open(span);
    }
  }

  void end_run(std::uint32_t tag, std::string const& result) {
    auto const found = runs_.find(tag);
    Run& run = *found->second;
    bool const has_failed = result.empty() || result == "failed";
    ComparedTest& test = tests_[run.test];
    if (has_failed == is_failing_ && result != "skipped") {
      bool const has_stopped = result.empty() || is_whole_;
      fail(run.builder, last_);
      RunFeatures features = run.builder.finish(last_, has_stopped);
      features.file = file_;
      features.command = command_;
      features.lost = is_whole_ ? recording_.lost().count : recording_.lost_of(tag);
      for (tracing::recording::Thread const& thread : recording_.threads())
        features.thread_names.emplace(thread.number, thread.name);
      (is_failing_ ? test.failing : test.passing).push_back(std::move(features));
    }
    for (auto& [key, span] : open_) {
      if (span.run == &run.builder) span.run = nullptr;
    }
    runs_.erase(found);
    known_ = nullptr;
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

  void see(RunBuilder& run, Entry const& entry) {
    if (begins_span(entry.type)) {
      SiteId const site = run.sites().site_of(*entry.metadata, site_of(run, entry.parent));
      Moment const begin = run.begin_span(site, entry);
      open_[entry.span] = {entry.metadata, entry.parent, site, &run, begin};
    } else if (entry.type == EntryType::event) {
      run.add_event(run.sites().site_of(*entry.metadata, site_of(run, entry.span)), entry);
    } else if (ends_span(entry.type)) {
      end_span(run, entry);
    } else if (entry.type == EntryType::values && !entry.is_restated()) {
      if (SiteId const site = site_of(run, entry.span); site != kNoSite) run.add_values(site, entry);
    } else if (entry.type == EntryType::state && !open_.contains(entry.span)) {
      open_[entry.span] = {entry.metadata, entry.parent, kNoSite, nullptr, {}};
    }
  }

  void end_span(RunBuilder& run, Entry const& entry) {
    auto const found = open_.find(entry.span);
    if (found == open_.end()) return;
    if (found->second.run == &run) run.end_span(found->second, entry);
    open_.erase(found);
  }

  ComparedTests& tests_;
  Recording& recording_;
  std::string const& file_;
  bool const is_failing_;
  std::function<bool(std::string_view)> const& is_wanted_;
  bool is_whole_ = false;  // the recording has no tests and is one run
  std::string command_;
  tracing::Instant last_{};
  std::map<std::uint32_t, std::unique_ptr<Run>> runs_;  // by tag
  RunBuilder* known_ = nullptr;
  std::uint32_t known_tag_ = 0;
  std::unordered_map<std::uint64_t, OpenSpan> open_;
};

}  // namespace

void add_failing_runs(ComparedTests& tests, Recording& recording, std::string const& file,
                      std::function<bool(std::string_view)> const& is_wanted) {
  RunReader(tests, recording, file, true, is_wanted).read();
  std::erase_if(tests, [](auto const& test) { return test.second.failing.empty(); });
}

void add_passing_runs(ComparedTests& tests, Recording& recording, std::string const& file) {
  RunReader(tests, recording, file, false, {}).read();
}

}  // namespace testlog::why
