#include "testlog/outputs/profiles.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/record/spans.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::Instant;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::TraceSource;

// Returns a function that says whether a record belongs to `test`; late records belong to test 0, which stands for
// outside any test. Call the function for all records, in their order.
std::function<bool(Entry const&)> belongs_to(TestTag test, Attribution const& attribution) {
  auto spans = std::make_shared<tracing::recording::Spans>();
  return [test, &attribution, spans = std::move(spans)](Entry const& entry) {
    spans->follow(entry);
    Owner const owner = attribution.owner_of(entry, spans->current());
    return (owner.late ? 0 : owner.test) == test;
  };
}

}  // namespace

void Profiles::write_test(Recording& recording, TestTag test, std::string const& name) const {
  std::optional<Instant> start;
  auto const belongs = belongs_to(test, attribution_);
  recording.for_each([&](Entry const& entry) {
    bool const is_new = !entry.is_restated() && entry.type != EntryType::mark;
    if (belongs(entry) && is_new && !start) start = entry.time;
  });
  if (!start) return;
  auto const source = [&] {
    TraceSource made(recording);
    made.filter = tracing::with_perf_spans(nullptr);
    made.process = name;
    made.is_wanted = belongs_to(test, attribution_);
    made.section_of = [test](Entry const& entry) {  // of this test alone
      return test != 0 && entry.tag == test ? tracing::recording::test_of(entry) : std::nullopt;
    };
    return made;
  };
  files_.write(true, source, name, *start);
}

void Profiles::end_test(TestTag test, std::string const& name) const {
  if (!files_.has(true)) return;
  if (auto const recording = capture_.read_all(capture_.begin_of_test())) write_test(*recording, test, name);
}

void Profiles::finish(std::string const& program, std::string const& outside_tests) const {
  if (TestTag const running = attribution_.running(); running != 0)  // a test called exit()
    end_test(running, std::string(attribution_.name_of(running)));
  auto const recording = capture_.read_all(0);
  if (recording == nullptr) return;
  if (files_.has(true)) write_test(*recording, 0, outside_tests);
  auto const source = [&] {
    TraceSource made(*recording);
    made.filter = tracing::with_perf_spans(nullptr);
    made.process = program;
    made.section_of = tracing::recording::test_of;
    return made;
  };
  files_.write(false, source, program, recording->start());
}

}}  // namespace testlog::v1
